//! Which page stands where, and what answers.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, RawQuery, Request, State},
    http::{StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use onrecord_redact::{Cause, Field, Marked};
use onrecord_web::review::{
    Desk as DeskPage, Form, JobPage, Kind, Notice, Part, assets, guard, head_html, panel_html, turn_html,
};
use onrecord_workspace::Error as WorkspaceError;
use serde_json::{Value, json};

use super::{
    Session, act,
    desk::{Desk, PAGE},
    library, lock, page, pages, plan,
};
use crate::{
    commands::block_on,
    config,
    error::{Error, Result},
    output::counted,
};

type App = Arc<Session>;

pub fn router(session: App) -> Router {
    let door = Arc::clone(&session.door);
    Router::new()
        .route("/", get(list))
        .route("/check", post(check))
        .route("/c/{key}", get(desk))
        .route("/c/{key}/decide", post(decide))
        .route("/c/{key}/render", post(render))
        .route("/c/{key}/beneath", get(beneath))
        .route("/c/{key}/private/{turn}", get(private))
        .route("/c/{key}/step/{turn}/{number}", get(step))
        .route("/c/{key}/preview", get(preview))
        .route("/c/{key}/records", get(records))
        .route("/c/{key}/publish", get(plan_page).post(publish))
        .route("/c/{key}/run", get(job))
        .route("/c/{key}/take-back", get(take_back_page).post(take_back))
        .route("/gone/{key}", get(gone_page).post(take_back_gone))
        .route("/gone/{key}/run", get(gone_job))
        .fallback(nothing)
        .with_state(session)
        .merge(assets())
        .layer(middleware::from_fn_with_state(door, guard))
}

/// What a handler makes, away from the thread that answers.
async fn made(make: impl FnOnce() -> Result<Response> + Send + 'static) -> Response {
    match tokio::task::spawn_blocking(make).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => failed(&error, HOME),
        Err(_) => {
            let why = "something went wrong in the program itself; nothing was changed";
            failed(&Error::Usage(why.to_owned()), HOME)
        }
    }
}

fn html(body: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

fn answer(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

fn see(address: String) -> Response {
    ([(header::LOCATION, address)], StatusCode::SEE_OTHER).into_response()
}

/// Where the way leads on from a page that could not be made.
const HOME: (&str, &str) = ("/", "Your conversations");

/// What went wrong and what to do next, and the status that says so.
fn fault(error: &Error) -> (StatusCode, String) {
    let status = match error {
        Error::NoSuchSession { .. } | Error::NoSuchTurn { .. } => StatusCode::NOT_FOUND,
        Error::Workspace(WorkspaceError::DecidedMeanwhile) => StatusCode::CONFLICT,
        Error::Workspace(WorkspaceError::Redact(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::BAD_REQUEST,
    };
    // The hints of some errors name commands; here there are buttons.
    let hint = match error {
        Error::Workspace(WorkspaceError::Redact(onrecord_redact::Error::Undecided { .. })) => {
            Some("Decide about them first: go back to the conversation, and press n.".to_owned())
        }
        error => error.hint(),
    };
    (status, hint.map_or_else(|| format!("{error}."), |hint| format!("{error}. {hint}")))
}

/// Says what went wrong, on a page.
fn failed(error: &Error, on: (&str, &str)) -> Response {
    let (status, text) = fault(error);
    let notice = Notice { title: "This could not be done", text: &text, on: Some(on) };
    let body = notice.html().unwrap_or(text);
    (status, html(body)).into_response()
}

/// Says what went wrong, to the page's script.
fn failed_json(error: &Error) -> Response {
    let (status, text) = fault(error);
    answer(status, &json!({"say": text}))
}

fn wants_json(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("application/json"))
}

fn form_of(request: &Request) -> Form {
    request.extensions().get::<Form>().cloned().unwrap_or_default()
}

fn query(raw: Option<String>) -> Form {
    Form::parse(&raw.unwrap_or_default())
}

async fn nothing() -> Response {
    let notice = Notice { title: "There is no such page", text: "Nothing stands at this address.", on: Some(HOME) };
    (StatusCode::NOT_FOUND, html(notice.html().unwrap_or_default())).into_response()
}

async fn list(State(app): State<App>, RawQuery(raw): RawQuery) -> Response {
    made(move || {
        let workspace = config::open_workspace()?;
        Ok(html(app.library.page(app.around(), &query(raw), &workspace)?))
    })
    .await
}

async fn check(State(app): State<App>) -> Response {
    made(move || {
        block_on(library::compare(&app.library))?;
        Ok(see("/".to_owned()))
    })
    .await
}

async fn desk(State(app): State<App>, Path(key): Path<String>, RawQuery(raw): RawQuery) -> Response {
    made(move || {
        let desk = app.desk(&key)?;
        let mut desk = lock(&desk);
        desk.refresh()?;
        let asked = query(raw);
        let number = desk.page(asked.text("page").parse().unwrap_or(1));
        Ok(html(desk_html(&app, &mut desk, number, asked.get("say"))?))
    })
    .await
}

fn desk_html(app: &Session, desk: &mut Desk, number: usize, say: Option<&str>) -> Result<String> {
    let look = desk.look(number)?;
    let revision = desk.revision()?;
    let panel = page::panel(desk, &look)?;
    app.library.note_waiting(&desk.key, panel.undecided);
    let address = |page: usize| format!("/c/{}?page={page}", desk.key);
    let page = DeskPage {
        around: app.around(),
        key: &desk.key,
        revision: &revision,
        head: page::head(desk, &look, &app.site)?,
        turns: page::turns(desk, &look, number),
        panel,
        pager: onrecord_web::review::Pager::of(number, PAGE, desk.turns(), address),
        page: number,
        of: desk.turns(),
        say: say.and_then(said),
    };
    Ok(page.html()?)
}

/// What a page may be asked to say: no more than what this program says itself.
fn said(word: &str) -> Option<&'static str> {
    match word {
        "kept" => Some("Kept."),
        "stale" => Some(STALE),
        _ => None,
    }
}

const STALE: &str = "The conversation, or what is decided about it, changed in another window or program. Nothing was changed by \
                     your last click: look at how it stands now, and decide again.";

async fn decide(State(app): State<App>, Path(key): Path<String>, request: Request) -> Response {
    let (form, as_json) = (form_of(&request), wants_json(&request));
    let done = made(move || match decided(&app, &key, &form, as_json) {
        Err(error) if as_json => Ok(failed_json(&error)),
        Err(error) => Ok(failed(&error, (&format!("/c/{key}"), BACK))),
        done => done,
    });
    done.await
}

fn decided(app: &Session, key: &str, form: &Form, as_json: bool) -> Result<Response> {
    let desk = app.desk(key)?;
    let mut desk = lock(&desk);
    desk.refresh()?;
    let number = desk.page(form.text("page").parse().unwrap_or(1));
    if desk.revision()? != form.text("revision") {
        return Ok(if as_json {
            answer(StatusCode::CONFLICT, &json!({"say": STALE}))
        } else {
            see(format!("/c/{key}?page={number}&say=stale"))
        });
    }
    let look = desk.look(number)?;
    let before = page::turns(&desk, &look, number);
    let done = act::act(&mut desk, form).and_then(|done| {
        if !done.is_kept {
            desk.opened.settle_title();
            let Desk { opened, seen, .. } = &mut *desk;
            opened.keep(&done.what, seen)?;
        }
        Ok(done)
    });
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            desk.opened.forget_unkept();
            return Err(error);
        }
    };
    if !as_json {
        let words: Vec<&str> = form.text("act").split(' ').collect();
        let is_of_turn = matches!(
            words.first(),
            Some(&("withhold" | "publish" | "before" | "after" | "drop" | "summary" | "unsummary"))
        );
        let turn = words.get(1).filter(|_| is_of_turn).and_then(|n| n.parse::<usize>().ok());
        let anchor = turn.map(|turn| format!("#t{turn}")).unwrap_or_default();
        return Ok(see(format!("/c/{key}?page={number}&say=kept{anchor}")));
    }
    let look = desk.look(number)?;
    let panel = page::panel(&desk, &look)?;
    app.library.note_waiting(key, panel.undecided);
    let mut parts: Vec<Part> = vec![panel_html(&panel)?, head_html(&page::head(&desk, &look, &app.site)?)?];
    // Only the turns that look otherwise now; and the last one that the page has, which may have gone on.
    let known: usize = form.text("of").parse().unwrap_or(desk.turns());
    for turn in page::turns(&desk, &look, number) {
        if turn.index == known || !before.contains(&turn) {
            parts.push(turn_html(&turn)?);
        }
    }
    let say = match desk.turns().saturating_sub(known) {
        0 => done.say,
        new => format!("{}. {} came meanwhile: load the page again to see what is new", done.say, counted(new, "turn")),
    };
    let parts: Vec<_> = parts.into_iter().map(|part| json!({"id": part.id, "html": part.html})).collect();
    Ok(answer(StatusCode::OK, &json!({"revision": desk.revision()?, "say": say, "parts": parts})))
}

/// What a title or description that is being written will look like.
async fn render(State(app): State<App>, Path(key): Path<String>, request: Request) -> Response {
    let form = form_of(&request);
    made(move || {
        let desk = app.desk(&key)?;
        let mut desk = lock(&desk);
        desk.refresh()?;
        let text = form.text("text").trim().to_owned();
        let (field, kind) = match form.text("field") {
            "title" => {
                desk.opened.decisions.set_title(Some(text));
                (Field::Title, Kind::Line)
            }
            "description" => {
                desk.opened.decisions.set_description(Some(text));
                (Field::Description, Kind::Plain)
            }
            place => act::set_summary(&mut desk, place.trim_start_matches("steps "), Some(&text))
                .map(|(_, step)| (Field::StepSummary(step), Kind::Line))?,
        };
        let turn = form.text("field").split(' ').nth(1).and_then(|turn| turn.parse::<usize>().ok());
        let Desk { opened, seen, .. } = &mut *desk;
        let look = opened.look(seen, |n| Some(n) == turn);
        // Tried, not decided.
        opened.forget_unkept();
        let look = look?;
        let kinds = page::Kinds::of(&look.scan);
        let shown = look.texts.iter().find(|shown| shown.turn == turn && shown.field == field);
        let text = shown.map(|shown| kinds.marked(shown, kind).to_string()).unwrap_or_default();
        let open = look.scan.findings.iter().filter(|f| f.turn == turn && f.field == field && f.undecided()).count();
        let note = match open {
            0 => String::new(),
            n => {
                format!("<p>{} in it cannot stand there: write it without, or cover it first.</p>", counted(n, "thing"))
            }
        };
        let body =
            if text.is_empty() { "<p>Readers will see none.</p>".to_owned() } else { format!("<div>{text}</div>") };
        Ok(answer(StatusCode::OK, &json!({"html": format!("{body}{note}")})))
    })
    .await
}

/// What stands beneath a bar, and why it is covered.
async fn beneath(State(app): State<App>, Path(key): Path<String>, RawQuery(raw): RawQuery) -> Response {
    made(move || match what_is_beneath(&app, &key, &query(raw)) {
        Ok(response) => Ok(response),
        Err(error) => Ok(failed_json(&error)),
    })
    .await
}

fn what_is_beneath(app: &Session, key: &str, query: &Form) -> Result<Response> {
    let desk = app.desk(key)?;
    let mut desk = lock(&desk);
    desk.refresh()?;
    if desk.revision()? != query.text("revision") {
        return Ok(answer(StatusCode::CONFLICT, &json!({"say": STALE})));
    }
    let wrong = || Error::Usage("nothing is covered there".to_owned());
    let turn = query.text("turn").parse().ok().filter(|turn: &usize| *turn > 0);
    let field: Field = query.text("field").parse().map_err(|_| wrong())?;
    let at: usize = query.text("at").parse().map_err(|_| wrong())?;
    let Desk { opened, seen, .. } = &mut *desk;
    let look = opened.look(seen, |n| Some(n) == turn)?;
    let shown = look.texts.iter().find(|shown| shown.turn == turn && shown.field == field).ok_or_else(wrong)?;
    let mark = shown.marks.iter().find(|mark| mark.start == at && mark.what == Marked::Covered).ok_or_else(wrong)?;
    let causes = opened.causes(seen, (turn, field), (mark.from, mark.to))?;
    let text = desk.text(turn, field).ok_or_else(wrong)?;
    let causes: Vec<Value> = causes
        .into_iter()
        .map(|cause| match cause {
            Cause::Finding(id) => {
                let name = look.scan.get(id).map(|f| f.name.to_string()).unwrap_or_default();
                json!({"words": format!("{name}, which you cover everywhere."), "act": format!("reopen {id}"), "button": "Uncover"})
            }
            Cause::Word(word) => {
                json!({"words": "You cover these words everywhere.", "act": format!("uncover w:{word}"), "button": "Uncover everywhere"})
            }
            Cause::Passage(passage) => {
                json!({"words": "You cover it in this place.", "act": format!("uncover p:{passage}"), "button": "Uncover here"})
            }
            Cause::Home => {
                json!({"words": "A home folder: one decision for all of them.", "act": "home none", "button": "Decide again"})
            }
            Cause::Elsewhere(Some(rule)) => {
                json!({"words": format!("It is of, or another form of, what is covered elsewhere: {rule}.")})
            }
            Cause::Elsewhere(None) => json!({"words": "It is of, or another form of, words that you cover elsewhere."}),
        })
        .collect();
    let text = text.get(mark.from..mark.to).unwrap_or_default();
    Ok(answer(StatusCode::OK, &json!({"text": text, "causes": causes})))
}

/// A page that is made of the open conversation.
async fn of_desk(
    app: App,
    key: String,
    make: impl FnOnce(&App, &Desk) -> Result<Response> + Send + 'static,
) -> Response {
    made(move || {
        let desk = app.desk(&key)?;
        let mut desk = lock(&desk);
        desk.refresh()?;
        Ok(make(&app, &desk).unwrap_or_else(|error| failed(&error, (&format!("/c/{key}"), BACK))))
    })
    .await
}

/// The same of one that is read anew, with all that is looked for: before anything goes out.
async fn of_fresh_desk(
    app: App,
    key: String,
    make: impl FnOnce(&App, &Desk) -> Result<Response> + Send + 'static,
) -> Response {
    made(move || {
        let desk = app.desk(&key)?;
        let mut desk = lock(&desk);
        desk.reopen()?;
        Ok(make(&app, &desk).unwrap_or_else(|error| failed(&error, (&format!("/c/{key}"), BACK))))
    })
    .await
}

/// The words for the way back to a conversation.
const BACK: &str = "Back to the conversation";

async fn private(State(app): State<App>, Path((key, turn)): Path<(String, usize)>) -> Response {
    of_desk(app, key, move |app, desk| Ok(html(pages::private(desk, app.around(), turn)?))).await
}

async fn step(State(app): State<App>, Path((key, turn, number)): Path<(String, usize, usize)>) -> Response {
    of_desk(app, key, move |app, desk| Ok(html(pages::step(desk, app.around(), (turn, number))?))).await
}

async fn preview(State(app): State<App>, Path(key): Path<String>, RawQuery(raw): RawQuery) -> Response {
    of_desk(app, key, move |app, desk| Ok(html(block_on(pages::preview(desk, app.around(), &query(raw)))?))).await
}

async fn records(State(app): State<App>, Path(key): Path<String>, RawQuery(raw): RawQuery) -> Response {
    of_desk(app, key, move |app, desk| Ok(html(block_on(pages::records(desk, app.around(), &query(raw)))?))).await
}

async fn plan_page(State(app): State<App>, Path(key): Path<String>, RawQuery(raw): RawQuery) -> Response {
    of_fresh_desk(app, key, move |app, desk| Ok(html(block_on(plan::page(desk, app.around(), &query(raw)))?))).await
}

async fn publish(State(app): State<App>, Path(key): Path<String>, request: Request) -> Response {
    let form = form_of(&request);
    of_fresh_desk(app, key, move |app, desk| {
        let running = block_on(plan::begin(desk, &form, &app.site))?;
        lock(&app.jobs).insert(desk.key.clone(), running);
        Ok(see(format!("/c/{}/run", desk.key)))
    })
    .await
}

async fn take_back_page(State(app): State<App>, Path(key): Path<String>) -> Response {
    of_desk(app, key, move |app, desk| Ok(html(plan::take_back_page(desk, app.around())?))).await
}

async fn take_back(State(app): State<App>, Path(key): Path<String>, request: Request) -> Response {
    let form = form_of(&request);
    of_desk(app, key, move |app, desk| {
        let running = plan::take_back(desk, &form)?;
        lock(&app.jobs).insert(desk.key.clone(), running);
        Ok(see(format!("/c/{}/run", desk.key)))
    })
    .await
}

async fn gone_page(State(app): State<App>, Path(key): Path<String>) -> Response {
    made(move || Ok(html(plan::gone_page(&config::open_workspace()?, app.around(), &key)?))).await
}

async fn take_back_gone(State(app): State<App>, Path(key): Path<String>) -> Response {
    made(move || {
        let running = plan::take_back_gone(&config::open_workspace()?, &key)?;
        lock(&app.jobs).insert(key.clone(), running);
        Ok(see(format!("/gone/{key}/run")))
    })
    .await
}

async fn gone_job(State(app): State<App>, Path(key): Path<String>) -> Response {
    run_page(&app, &key, ("/", "Your conversations"))
}

async fn job(State(app): State<App>, Path(key): Path<String>) -> Response {
    run_page(&app, &key, (&format!("/c/{key}"), BACK))
}

fn run_page(app: &Session, key: &str, on: (&str, &str)) -> Response {
    let Some(running) = lock(&app.jobs).get(key).cloned() else { return see(on.0.to_owned()) };
    let goes_on = running.goes_on();
    let page = JobPage { around: app.around(), on, job: &running.state() };
    match page.html() {
        // Without script the page asks again by itself.
        Ok(body) if goes_on => ([(header::REFRESH, "2")], html(body)).into_response(),
        Ok(body) => html(body),
        Err(error) => failed(&error.into(), on),
    }
}
