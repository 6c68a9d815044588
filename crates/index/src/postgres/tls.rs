//! Encrypted connections to PostgreSQL: who is believed to be the server.

use std::{
    io,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _},
    server::ParsedCertificate,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::address::{Authorities, Proof};
use crate::error::{Error, Result};

/// Most bytes of a file of certificates: the authorities of a whole system take a quarter of a megabyte.
const MAX_FILE: u64 = 16_000_000;

/// What connections are encrypted with.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// # Errors
    /// The file of authorities cannot be read, or holds none.
    pub(super) fn new(proof: Proof, authorities: Option<&Authorities>) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let believed = believed(authorities)?;
        let unusable = |error: &dyn std::fmt::Display| Error::DatabaseAddress(format!("TLS cannot be used: {error}"));
        let chain = match proof {
            Proof::Nothing => None,
            Proof::Chain | Proof::Name => {
                let mut roots = RootCertStore::empty();
                match authorities {
                    Some(Authorities::File(_)) => drop(roots.add_parsable_certificates(believed.iter().cloned())),
                    _ => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
                }
                let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
                Some(builder.build().map_err(|error| unusable(&error))?)
            }
        };
        let verifier = Verifier { proof, chain, believed, provider: Arc::clone(&provider) };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

/// The certificates of the file of authorities; none for other authorities.
fn believed(authorities: Option<&Authorities>) -> Result<Vec<CertificateDer<'static>>> {
    let Some(Authorities::File(path)) = authorities else { return Ok(Vec::new()) };
    let unusable = |why: String| Error::Certificates { path: path.clone(), why };
    let pem = read(path).map_err(|error| unusable(error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable(format!("not a file of certificates in PEM ({error})")))?;
    if certificates.is_empty() {
        return Err(unusable("it holds no certificate in PEM".to_owned()));
    }
    Ok(certificates)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(std::fs::File::open(path)?, MAX_FILE), &mut bytes)?;
    Ok(bytes)
}

/// What libpq believes, by rustls' means.
#[derive(Debug)]
struct Verifier {
    proof: Proof,
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// A server's own certificate may stand in the file itself.
    believed: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        if self.believed.iter().any(|own| own == end_entity) {
            if self.proof == Proof::Name {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(end_entity, intermediates, name, ocsp_response, now) {
            // The name comes last: the chain is what it should be.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.proof == Proof::Chain => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Handshake> {
        Ok(Handshake { connector: self.0.clone(), domain: domain.to_owned() })
    }
}

/// A handshake that is to be made.
pub(super) struct Handshake {
    connector: TlsConnector,
    domain: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.domain)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the host's name is none for TLS"))?;
            Ok(Encrypted(self.connector.connect(name, stream).await?))
        })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
