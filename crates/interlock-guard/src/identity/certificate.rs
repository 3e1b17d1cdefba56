//! The certificate of a client, as far as names go. That it is genuine was checked in the handshake.

use x509_cert::{
    Certificate,
    attr::AttributeTypeAndValue,
    der::{
        Decode as _, Tag, Tagged as _,
        asn1::{ObjectIdentifier, PrintableStringRef, Utf8StringRef},
    },
};

use crate::policy::CertificateName;

/// A client's certificate that was checked against the authorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCertificate {
    subject: String,
    common_name: Option<String>,
}

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// The longest name that is taken over.
const LONGEST: usize = 512;

impl PeerCertificate {
    /// Reads the names of a certificate; `None` if it is none.
    #[must_use]
    pub fn of_der(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let subject = &certificate.tbs_certificate.subject;
        let attributes = subject.0.iter().flat_map(|part| part.0.iter());
        let common_name = attributes.filter(|attribute| attribute.oid == COMMON_NAME).find_map(text);
        Some(Self { subject: subject.to_string(), common_name })
    }

    /// The whole subject, as RFC 4514 writes it.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The part of it that is this client's name.
    pub(super) fn name(&self, part: CertificateName) -> Option<&str> {
        let name = match part {
            CertificateName::Subject => Some(self.subject.as_str()),
            CertificateName::CommonName => self.common_name.as_deref(),
        };
        name.filter(|name| !name.is_empty() && name.len() <= LONGEST)
    }
}

fn text(attribute: &AttributeTypeAndValue) -> Option<String> {
    match attribute.value.tag() {
        Tag::Utf8String => attribute.value.decode_as::<Utf8StringRef<'_>>().ok().map(|text| text.to_string()),
        Tag::PrintableString => {
            attribute.value.decode_as::<PrintableStringRef<'_>>().ok().map(|text| text.to_string())
        }
        _ => None,
    }
}
