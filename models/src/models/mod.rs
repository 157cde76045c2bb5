//! The models.

mod arm;
mod bell;
mod end;
mod flight;
mod lane;
mod lock;
mod parts;
mod ring;
