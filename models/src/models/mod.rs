//! The models.

mod arm;
mod bell;
mod end;
mod flight;
mod lane;
mod lock;
mod messages;
mod parts;
mod quiesce;
mod ring;
