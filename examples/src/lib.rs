//! Example programs, one page each.
