//! Tokens that are taken, and tokens that are not.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::{
    super::keys::{InvalidKeys, Keys},
    kit::{AUDIENCE, RSA, SECRET, bearer, claims, ec, ed, hmac, now, taking},
};
use crate::policy::JwtAlgorithm::{EdDsa, Es256, Hs256, Rs256};

fn with(key: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[key] = value;
    claims
}

fn without(key: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(key);
    claims
}

#[test]
fn a_good_token_of_each_algorithm_is_taken() {
    for (signer, algorithm) in [(&*RSA, Rs256), (&ec(), Es256), (&ed(), EdDsa), (&hmac(), Hs256)] {
        let ways = taking(&signer.public, &[algorithm]);
        assert_eq!(bearer(&ways, &signer.token(&claims())), "jwt:alice", "{algorithm:?}");
        let many = with("aud", json!(["x", AUDIENCE]));
        assert_eq!(bearer(&ways, &signer.token(&many)), "jwt:alice", "{algorithm:?}");
        assert_eq!(bearer(&ways, &signer.token(&with("exp", json!(now() - 10)))), "jwt:alice");
        assert_eq!(bearer(&ways, &signer.token(&without("nbf"))), "jwt:alice");
    }
}

#[test]
fn a_token_whose_claims_do_not_hold_is_refused_with_the_reason() {
    let signer = ed();
    let ways = taking(&signer.public, &[EdDsa]);
    let lacks = "the token lacks exp, iss, aud or sub";
    for (claims, why) in [
        (with("exp", json!(now() - 100)), "the token has expired"),
        (with("nbf", json!(now() + 100)), "the token is not valid yet"),
        (with("iss", json!("https://evil.example")), "the token's issuer is not accepted"),
        (with("aud", json!("https://other.example")), "the token is for another audience"),
        (with("aud", json!([])), "the token is for another audience"),
        (without("exp"), lacks),
        (without("iss"), lacks),
        (without("aud"), lacks),
        (without("sub"), lacks),
        (with("sub", json!("")), lacks),
        (with("sub", json!("a\nb")), lacks),
        (with("sub", json!("x".repeat(1_000))), "the token's sub is longer than 512 bytes"),
        (with("sub", json!(7)), lacks),
        (with("exp", json!("tomorrow")), lacks),
        (with("nbf", json!("yesterday")), lacks),
        (with("exp", json!(-1)), lacks),
    ] {
        assert_eq!(bearer(&ways, &signer.token(&claims)), why, "{claims}");
    }
}

#[test]
fn a_token_that_somebody_else_signed_or_changed_is_refused() {
    let signer = ec();
    let ways = taking(&signer.public, &[Es256]);
    assert_eq!(bearer(&ways, &ec().token(&claims())), "the token's signature is not valid");
    let token = signer.token(&claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (head, _) = signed.split_once('.').unwrap();
    let other = signer.token(&with("sub", json!("mallory")));
    let payload = other.split('.').nth(1).unwrap();
    for forged in [
        format!("{head}.{payload}.{signature}"),
        format!("{signed}."),
        format!("{signed}.AAAA"),
        format!("{signed}.{}", "A".repeat(86)),
    ] {
        assert_eq!(bearer(&ways, &forged), "the token's signature is not valid", "{forged}");
    }
}

#[test]
fn an_algorithm_that_is_not_accepted_is_refused_even_with_the_right_key() {
    let signer = ed();
    assert_eq!(
        bearer(&taking(&RSA.public, &[Rs256]), &signer.token(&claims())),
        "the token's algorithm is not accepted"
    );
    // The public key, which everybody has, taken for a shared secret.
    let confused = EncodingKey::from_secret(RSA.public.as_bytes());
    let token = encode(&Header::new(Algorithm::HS256), &claims(), &confused).unwrap();
    assert_eq!(bearer(&taking(&RSA.public, &[Rs256]), &token), "the token's algorithm is not accepted");
    let longer =
        encode(&Header::new(Algorithm::HS512), &claims(), &EncodingKey::from_secret(SECRET.as_bytes()));
    assert_eq!(bearer(&taking(SECRET, &[Hs256]), &longer.unwrap()), "the token's algorithm is not accepted");
}

#[test]
fn a_token_without_a_signature_is_no_token() {
    let ways = taking(&ed().public, &[EdDsa]);
    let payload = ed().token(&claims());
    let payload = payload.split('.').nth(1).unwrap();
    // {"alg":"none","typ":"JWT"} and two spellings of it.
    for head in [
        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0",
        "eyJhbGciOiJOb25lIiwidHlwIjoiSldUIn0",
        "eyJhbGciOiIiLCJ0eXAiOiJKV1QifQ",
    ] {
        let why = "the credential is neither a known key nor a token";
        assert_eq!(bearer(&ways, &format!("{head}.{payload}.")), why);
        assert_eq!(bearer(&ways, &format!("{head}.{payload}")), why);
    }
}

#[test]
fn a_head_that_asks_for_more_than_we_know_is_refused() {
    let signer = ed();
    let ways = taking(&signer.public, &[EdDsa]);
    let header = Header { crit: Some(vec!["b64".to_owned()]), ..Header::new(Algorithm::EdDSA) };
    let token = encode(&header, &claims(), &signer.private).unwrap();
    assert_eq!(bearer(&ways, &token), "the token's algorithm is not accepted");
    // A key that a token brings along is not trusted.
    let other = ed();
    let jwk = serde_json::from_value(other.member("x")).unwrap();
    let header = Header { jwk: Some(jwk), ..Header::new(Algorithm::EdDSA) };
    let token = encode(&header, &claims(), &other.private).unwrap();
    assert_eq!(bearer(&ways, &token), "the token's signature is not valid");
}

#[test]
fn what_is_no_token_at_all_is_refused_and_nothing_more() {
    let ways = taking(&ed().public, &[EdDsa]);
    for text in ["x", ".", "..", "...", "a.b.c", "====.====.====", &"a".repeat(100_000)] {
        let said = bearer(&ways, text);
        assert!(said.contains("neither a known key nor a token") || said.contains("header"), "{said}");
    }
}

#[test]
fn of_a_set_the_key_that_a_token_names_is_taken() {
    let (one, other, stranger) = (ed(), ec(), ed());
    let set = json!({ "keys": [
        { "kty": "unheard-of", "kid": "odd" },
        { "kty": "RSA", "kid": "broken", "n": "!!", "e": "AQAB" },
        "no key at all",
        one.member("one"),
        other.member("other"),
        RSA.member("rsa"),
    ] });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.json");
    std::fs::write(&path, set.to_string()).unwrap();
    let jwt = super::kit::jwt(crate::policy::KeySource::SetFile(path), &[EdDsa, Es256, Rs256]);
    let config = crate::policy::IdentityConfig { is_required: true, jwt: Some(jwt), ..Default::default() };
    let ways = super::super::Ways::open(&config).unwrap();
    assert_eq!(bearer(&ways, &one.token_of("one", &claims())), "jwt:alice");
    assert_eq!(bearer(&ways, &other.token_of("other", &claims())), "jwt:alice");
    assert_eq!(bearer(&ways, &RSA.token_of("rsa", &claims())), "jwt:alice");
    assert_eq!(bearer(&ways, &one.token(&claims())), "jwt:alice");
    assert_eq!(bearer(&ways, &one.token_of("other", &claims())), "the token's key is not known");
    assert_eq!(bearer(&ways, &stranger.token_of("one", &claims())), "the token's signature is not valid");
    assert_eq!(bearer(&ways, &stranger.token_of("new", &claims())), "the token's key is not known");
}

#[test]
fn keys_that_are_none_or_too_weak_are_refused() {
    let short = |keys: Result<Keys, InvalidKeys>| keys.unwrap_err().to_string();
    let none = "the set has no key that any of the accepted algorithms can use";
    assert_eq!(short(Keys::set("{}", &[Rs256])), none);
    assert_eq!(
        short(Keys::set(r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}]}"#, &[EdDsa])),
        none
    );
    assert_eq!(short(Keys::set(r#"{"keys": [{"kty": "oct", "k": "AAAA"}]}"#, &[Hs256])), none);
    assert_eq!(short(Keys::set(r#"{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}"#, &[Rs256])), none);
    let mut encrypts = RSA.member("x");
    encrypts["use"] = json!("enc");
    assert_eq!(short(Keys::set(&json!({ "keys": [encrypts] }).to_string(), &[Rs256])), none);
    assert_eq!(short(Keys::set(&json!({ "keys": [RSA.member("x")] }).to_string(), &[Es256])), none);
    assert!(short(Keys::set("[", &[Rs256])).starts_with("it is no key set: EOF"));
    let no_pem = "it is no public key in PEM for any of the accepted algorithms";
    assert_eq!(short(Keys::one("x", &[Rs256])), no_pem);
    assert_eq!(short(Keys::one(&ec().public, &[Rs256, EdDsa])), no_pem);
    assert_eq!(short(Keys::one("too short\n", &[Hs256])), "the shared secret is shorter than 32 bytes");
    assert!(Keys::one(&ec().public, &[Rs256, Es256]).is_ok());
}
