//! Tests that look inside.
mod rules;
mod samples;
