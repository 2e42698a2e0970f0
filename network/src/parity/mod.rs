//! Parity: fixtures, comparison, verdicts.
