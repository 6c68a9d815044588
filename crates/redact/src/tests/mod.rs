//! Tests that look inside.
mod context;
mod rules;
mod samples;
mod shapes;
