//! The payin contract in Rust, for readers and auditors who know the Soroban SDK. It is not built here and is not what is
//! deployed: the deployed contract is `../payin.as`. Same functions, same event, same error code.
#![no_std]
use soroban_sdk::{
    contract, contracterror, contractevent, contractimpl, symbol_short, token::TokenClient, Address, Env, String, Symbol,
};

const DESTINATION: Symbol = symbol_short!("dest");
const TOKEN: Symbol = symbol_short!("token");
const ALIVE_AT_LEAST: u32 = 120_960;
const ALIVE_AGAIN: u32 = 518_400;

#[contracterror]
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum Error {
    AmountNotPositive = 1,
}

#[contractevent(topics = ["payment"])]
pub struct Payment {
    #[topic]
    pub sender: Address,
    pub amount: i128,
    pub destination: Address,
    pub from: Address,
    pub memo: String,
}

#[contract]
pub struct Payin;

#[contractimpl]
impl Payin {
    pub fn __constructor(env: Env, destination: Address, token: Address) {
        env.storage().instance().set(&DESTINATION, &destination);
        env.storage().instance().set(&TOKEN, &token);
    }

    pub fn pay(env: Env, sender: Address, amount: i128, memo: String) -> Result<(), Error> {
        if amount <= 0 {
            return Err(Error::AmountNotPositive);
        }
        sender.require_auth();
        let destination = Self::destination(env.clone());
        TokenClient::new(&env, &Self::token(env.clone())).transfer(&sender, &destination, &amount);
        Payment { sender: sender.clone(), amount, destination, from: sender, memo }.publish(&env);
        env.storage().instance().extend_ttl(ALIVE_AT_LEAST, ALIVE_AGAIN);
        Ok(())
    }

    pub fn destination(env: Env) -> Address {
        env.storage().instance().get(&DESTINATION).unwrap()
    }

    pub fn token(env: Env) -> Address {
        env.storage().instance().get(&TOKEN).unwrap()
    }
}
