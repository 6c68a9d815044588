//! The queries over HTTP.

use axum::{
    Router,
    extract::{Path, Query, State, rejection::PathRejection},
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::any,
};
use onrecord_lexicon::Nsid;
use serde_json::json;

use super::{Xrpc, XrpcError};
use crate::doors::{NO_PAGE, open_to_all, when_to_retry};

/// Answers `/xrpc/NSID`, and `/xrpc/_health`. Every answer may be read by any web page.
pub fn router(xrpc: Xrpc) -> Router {
    Router::new().route("/xrpc/{nsid}", any(call)).with_state(xrpc)
}

async fn call(
    State(xrpc): State<Xrpc>,
    nsid: Result<Path<String>, PathRejection>,
    method: Method,
    uri: Uri,
) -> Response {
    let answer = match (nsid, method) {
        (_, Method::OPTIONS) => StatusCode::NO_CONTENT.into_response(),
        (Ok(Path(nsid)), method) => match respond(&xrpc, &nsid, &method, &uri).await {
            Ok(body) => json_response(StatusCode::OK, body),
            Err(error) => error.into_response(),
        },
        (Err(rejection), _) => XrpcError::invalid(rejection.body_text()).into_response(),
    };
    with_headers(answer)
}

async fn respond(xrpc: &Xrpc, nsid: &str, method: &Method, uri: &Uri) -> Result<String, XrpcError> {
    let is_health = nsid == "_health";
    if !is_health {
        Nsid::parse(nsid)?;
        if !super::METHODS.contains(&nsid) {
            return Err(XrpcError::unknown_method(nsid));
        }
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(XrpcError::wrong_verb());
    }
    if is_health {
        return Ok(json!({"version": env!("CARGO_PKG_VERSION")}).to_string());
    }
    let query: Query<Vec<(String, String)>> =
        Query::try_from_uri(uri).map_err(|rejection| XrpcError::invalid(rejection.body_text()))?;
    xrpc.answer(nsid, query.iter().map(|(name, value)| (name.as_str(), value.as_str()))).await
}

impl IntoResponse for XrpcError {
    fn into_response(self) -> Response {
        let body = json!({"error": self.error, "message": self.message}).to_string();
        let mut response = when_to_retry(json_response(self.status, body));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        }
        response
    }
}

fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Any page may ask, without cookies, which are not looked at. Nothing is kept by caches: what is taken back is gone at once.
fn with_headers(response: Response) -> Response {
    let mut response = open_to_all(response, "no-store", NO_PAGE);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "*"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
