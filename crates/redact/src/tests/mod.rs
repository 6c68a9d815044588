//! Tests that look inside.
mod context;
mod overlaps;
mod rules;
mod samples;
mod shapes;
