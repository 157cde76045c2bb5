//! The models.

mod arm;
mod bell;
mod biased;
mod end;
mod flight;
mod lane;
mod lock;
mod messages;
mod parts;
mod quiesce;
mod receives;
mod ring;
mod seat;
