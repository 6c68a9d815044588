//! Where tools keep credentials. One line a place; what a file's shape is stands beside it.
//!
//! Places are as the tools' own manuals give them, checked in 2026.

use std::path::PathBuf;

use super::{ENVIRONMENT, OURS, Places, sink::Trust};

/// A kind of place that the author can switch off.
pub(super) struct Source {
    /// Stable identifier.
    pub(super) id: &'static str,
    /// What people call it.
    pub(super) name: &'static str,
    pub(super) places: &'static [Place],
}

/// A file, or several by a pattern, below a base.
pub(super) struct Place {
    pub(super) base: Base,
    /// Relative to the base; `*` stands for any part of one name.
    pub(super) path: &'static str,
    pub(super) format: Format,
}

/// What a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Home,
    /// The platform's folders for settings.
    Config,
    /// The platform's folders for programs' data.
    Data,
    /// The platform's folders for programs' state.
    State,
    /// The platform's folder for what can be fetched again.
    Cache,
    /// What a variable of the environment names: a file if the path is empty, else a folder. May be a list.
    Variable(&'static str),
    /// The conversation's project: its folder and those above up to the repository's root.
    Project,
}

/// The shape of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Dotenv,
    Shell,
    FishVariables,
    Ini(Trust),
    Json(Trust),
    Toml(Trust),
    Yaml(Trust),
    Xml,
    Netrc,
    Pgpass,
    Urls,
    Token,
    PrivateKey,
}

impl Base {
    /// The folders (or files) it means.
    pub(super) fn folders(self, places: &Places) -> Vec<PathBuf> {
        let home = |below: &str| places.home.as_ref().map(|home| home.join(below));
        let variable = |name: &str| places.variable(name).map(PathBuf::from);
        let mut folders: Vec<_> = match self {
            Self::Home => home("").into_iter().collect(),
            Self::Config => [
                variable("XDG_CONFIG_HOME"),
                home(".config"),
                home("Library/Application Support"),
                home("Library/Preferences"),
                variable("APPDATA"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::Data => [
                variable("XDG_DATA_HOME"),
                home(".local/share"),
                home("Library/Application Support"),
                variable("APPDATA"),
                variable("LOCALAPPDATA"),
            ]
            .into_iter()
            .flatten()
            .collect(),
            Self::State => [variable("XDG_STATE_HOME"), home(".local/state")].into_iter().flatten().collect(),
            Self::Cache => [variable("XDG_CACHE_HOME"), home(".cache")].into_iter().flatten().collect(),
            Self::Variable(name) => {
                places.variable(name).map(|v| std::env::split_paths(v).collect()).unwrap_or_default()
            }
            // Only the reader knows which folders of a project may be looked at.
            Self::Project => Vec::new(),
        };
        // A relative one would mean whatever folder the person is in.
        folders.retain(|folder| folder.is_absolute());
        folders.dedup();
        folders
    }
}

impl Source {
    /// Where it usually is, as people write it.
    pub(super) fn usual_place(&self, places: &Places) -> String {
        match self.id {
            ENVIRONMENT => return "the environment".to_owned(),
            OURS => return "the workspace".to_owned(),
            _ => {}
        }
        let Some(place) = self.places.iter().find(|p| !matches!(p.base, Base::Variable(_))) else {
            return String::new();
        };
        match place.base {
            Base::Home => format!("~/{}", place.path),
            Base::Project => format!("{} of the project", place.path),
            base => {
                let folder =
                    base.folders(places).into_iter().next().map(|folder| places.shown(&folder.join(place.path)));
                folder.unwrap_or_else(|| place.path.to_owned())
            }
        }
    }
}

macro_rules! sources {
    ($($id:literal $name:literal: $($base:ident $(($variable:literal))? $path:literal $format:ident $(($trust:ident))?),* ;)*) => {
        &[$(Source { id: $id, name: $name, places: &[$(Place {
            base: Base::$base $(($variable))?,
            path: $path,
            format: Format::$format $((Trust::$trust))?,
        }),*] }),*]
    };
}

/// Every source, in the order of the reports.
pub(super) const SOURCES: &[Source] = sources! {
    "env" "Environment": ;
    "onrecord" "onrecord sessions": ;
    "dotenv" "Project environment files":
        Project ".env" Dotenv, Project ".env.*" Dotenv, Project ".envrc" Shell, Project ".dev.vars" Dotenv,
        Project ".dev.vars.*" Dotenv, Project ".flaskenv" Dotenv, Project "secrets.env" Dotenv;
    "project" "Project settings of tools":
        Project ".npmrc" Ini(Credentials), Project ".yarnrc.yml" Yaml(Credentials), Project ".git/config" Ini(Settings),
        Project ".mcp.json" Json(Settings), Project ".cursor/mcp.json" Json(Settings),
        Project ".vscode/mcp.json" Json(Settings), Project ".claude/settings.local.json" Json(Settings),
        Project ".claude/settings.json" Json(Settings), Project ".gemini/settings.json" Json(Settings),
        Project ".codex/config.toml" Toml(Settings), Project "opencode.json" Json(Settings),
        Project "opencode.jsonc" Json(Settings), Project ".streamlit/secrets.toml" Toml(Credentials),
        Project "auth.json" Json(Credentials), Project ".aider.conf.yml" Yaml(Settings);
    "shell" "Shell start files":
        Home ".bashrc" Shell, Home ".bash_profile" Shell, Home ".bash_login" Shell, Home ".bash_aliases" Shell,
        Home ".profile" Shell, Home ".zshrc" Shell, Home ".zshenv" Shell, Home ".zprofile" Shell, Home ".zlogin" Shell,
        Home ".zshrc.local" Shell, Home ".bashrc.local" Shell, Home ".kshrc" Shell, Home ".cshrc" Shell, Home ".tcshrc" Shell,
        Home ".exports" Shell, Home ".secrets" Shell, Home ".env" Dotenv, Variable("ZDOTDIR") ".zshrc" Shell,
        Variable("ZDOTDIR") ".zshenv" Shell, Variable("ZDOTDIR") ".zprofile" Shell, Config "zsh/.zshrc" Shell,
        Config "zsh/.zshenv" Shell, Config "fish/config.fish" Shell, Config "fish/conf.d/*.fish" Shell,
        Config "fish/fish_variables" FishVariables, Config "environment.d/*.conf" Dotenv, Home ".pam_environment" Dotenv;
    "ssh" "SSH keys": Home ".ssh/*" PrivateKey;
    "git-credentials" "git":
        Home ".git-credentials" Urls, Config "git/credentials" Urls, Home ".gitconfig" Ini(Settings),
        Config "git/config" Ini(Settings);
    "netrc" "netrc": Home ".netrc" Netrc, Home "_netrc" Netrc, Variable("NETRC") "" Netrc;
    "gh" "GitHub command line":
        Config "gh/hosts.yml" Yaml(Credentials), Variable("GH_CONFIG_DIR") "hosts.yml" Yaml(Credentials),
        Config "hub" Yaml(Credentials);
    "glab" "GitLab command line":
        Config "glab-cli/config.yml" Yaml(Credentials), Variable("GLAB_CONFIG_DIR") "config.yml" Yaml(Credentials);
    "claude" "Claude Code":
        Home ".claude/.credentials.json" Json(Credentials), Variable("CLAUDE_CONFIG_DIR") ".credentials.json" Json(Credentials),
        Home ".claude.json" Json(Settings), Variable("CLAUDE_CONFIG_DIR") ".claude.json" Json(Settings),
        Home ".claude/settings.json" Json(Settings), Home ".claude/settings.local.json" Json(Settings),
        Variable("CLAUDE_CONFIG_DIR") "settings.json" Json(Settings), Config "Claude/claude_desktop_config.json" Json(Settings);
    "codex" "Codex":
        Home ".codex/auth.json" Json(Credentials), Variable("CODEX_HOME") "auth.json" Json(Credentials),
        Home ".codex/config.toml" Toml(Settings), Variable("CODEX_HOME") "config.toml" Toml(Settings),
        Home ".codex/.env" Dotenv;
    "pi" "pi": Home ".pi/agent/auth.json" Json(Credentials), Home ".pi/agent/models.json" Json(Settings),
        Variable("PI_CODING_AGENT_DIR") "auth.json" Json(Credentials);
    "opencode" "opencode":
        Data "opencode/auth.json" Json(Credentials), Data "opencode/mcp-auth.json" Json(Credentials),
        Config "opencode/opencode.json" Json(Settings), Config "opencode/opencode.jsonc" Json(Settings),
        Config "opencode/config.json" Json(Settings);
    "gemini" "Gemini command line":
        Home ".gemini/oauth_creds.json" Json(Credentials), Home ".gemini/mcp-oauth-tokens.json" Json(Credentials),
        Home ".gemini/settings.json" Json(Settings), Home ".gemini/.env" Dotenv;
    "qwen" "Qwen Code":
        Home ".qwen/oauth_creds.json" Json(Credentials), Home ".qwen/settings.json" Json(Settings), Home ".qwen/.env" Dotenv;
    "copilot" "GitHub Copilot":
        Config "github-copilot/hosts.json" Json(Credentials), Config "github-copilot/apps.json" Json(Credentials),
        Home ".copilot/config.json" Json(Credentials), Home ".copilot/mcp-config.json" Json(Settings),
        Home ".copilot/mcp-oauth-config/*.json" Json(Credentials), Home ".copilot/providers.json" Json(Credentials);
    "cursor" "Cursor":
        Config "cursor/auth.json" Json(Credentials), Home ".cursor/cli-config.json" Json(Settings),
        Home ".cursor/mcp.json" Json(Settings);
    "amp" "Amp": Data "amp/secrets.json" Json(List), Config "amp/settings.json" Json(Settings);
    "goose" "Goose": Config "goose/secrets.yaml" Yaml(List), Config "goose/config.yaml" Yaml(Settings);
    "aider" "aider": Home ".aider.conf.yml" Yaml(Settings), Home ".aider/oauth-keys.env" Dotenv;
    "continue" "Continue":
        Home ".continue/config.json" Json(Settings), Home ".continue/config.yaml" Yaml(Settings), Home ".continue/.env" Dotenv;
    "crush" "Crush": Data "crush/crush.json" Json(Credentials), Config "crush/crush.json" Json(Settings);
    "factory" "Factory": Home ".factory/auth.json" Json(Credentials), Home ".factory/config.json" Json(Settings),
        Home ".factory/mcp.json" Json(Settings);
    "windsurf" "Windsurf": Home ".codeium/windsurf/mcp_config.json" Json(Settings), Home ".codeium/config.json" Json(Credentials);
    "zed" "Zed": Config "zed/settings.json" Json(Settings);
    "llm" "llm": Config "io.datasette.llm/keys.json" Json(List);
    "aws" "AWS credentials":
        Home ".aws/credentials" Ini(Credentials), Home ".aws/config" Ini(Credentials),
        Variable("AWS_SHARED_CREDENTIALS_FILE") "" Ini(Credentials), Variable("AWS_CONFIG_FILE") "" Ini(Credentials),
        Home ".aws/sso/cache/*.json" Json(Credentials), Home ".aws/cli/cache/*.json" Json(Credentials);
    "gcloud" "Google Cloud":
        Config "gcloud/application_default_credentials.json" Json(Credentials),
        Config "gcloud/legacy_credentials/*/adc.json" Json(Credentials), Config "gcloud/configurations/*" Ini(Settings),
        Variable("CLOUDSDK_CONFIG") "application_default_credentials.json" Json(Credentials),
        Variable("CLOUDSDK_CONFIG") "legacy_credentials/*/adc.json" Json(Credentials),
        Variable("GOOGLE_APPLICATION_CREDENTIALS") "" Json(Credentials);
    "azure" "Azure":
        Home ".azure/msal_token_cache.json" Json(Credentials), Home ".azure/accessTokens.json" Json(Credentials),
        Home ".azure/service_principal_entries.json" Json(Credentials),
        Variable("AZURE_CONFIG_DIR") "msal_token_cache.json" Json(Credentials),
        Variable("AZURE_CONFIG_DIR") "service_principal_entries.json" Json(Credentials);
    "docker" "Docker and Podman":
        Home ".docker/config.json" Json(Credentials), Variable("DOCKER_CONFIG") "config.json" Json(Credentials),
        Config "containers/auth.json" Json(Credentials), Variable("REGISTRY_AUTH_FILE") "" Json(Credentials);
    "kube" "Kubernetes": Home ".kube/config" Yaml(Credentials), Variable("KUBECONFIG") "" Yaml(Credentials);
    "helm" "Helm": Config "helm/registry/config.json" Json(Credentials), Config "helm/repositories.yaml" Yaml(Credentials);
    "terraform" "Terraform":
        Home ".terraform.d/credentials.tfrc.json" Json(Credentials), Home ".terraformrc" Ini(Credentials),
        Home ".tofurc" Ini(Credentials), Variable("TF_CLI_CONFIG_FILE") "" Ini(Credentials);
    "pulumi" "Pulumi": Home ".pulumi/credentials.json" Json(Credentials);
    "vault" "Vault": Home ".vault-token" Token;
    "npmrc" "npm and its kin":
        Home ".npmrc" Ini(Credentials), Variable("NPM_CONFIG_USERCONFIG") "" Ini(Credentials), Config "pnpm/rc" Ini(Credentials),
        Config "pnpm/auth.ini" Ini(Credentials), Home ".yarnrc.yml" Yaml(Credentials), Home ".bunfig.toml" Toml(Credentials),
        Home ".yarnrc" Ini(Credentials);
    "pypirc" "Python package indexes":
        Home ".pypirc" Ini(Credentials), Config "pip/pip.conf" Ini(Settings), Home ".pip/pip.conf" Ini(Settings),
        Config "pypoetry/auth.toml" Toml(Credentials), Data "uv/credentials/credentials.toml" Toml(Credentials);
    "cargo" "Cargo":
        Home ".cargo/credentials.toml" Toml(Credentials), Home ".cargo/credentials" Toml(Credentials),
        Variable("CARGO_HOME") "credentials.toml" Toml(Credentials), Variable("CARGO_HOME") "credentials" Toml(Credentials),
        Home ".cargo/config.toml" Toml(Settings);
    "gem" "RubyGems":
        Home ".gem/credentials" Yaml(Credentials), Data "gem/credentials" Yaml(Credentials),
        Home ".bundle/config" Yaml(Settings);
    "composer" "Composer": Home ".composer/auth.json" Json(Credentials), Config "composer/auth.json" Json(Credentials);
    "maven" "Maven, Gradle and NuGet":
        Home ".m2/settings.xml" Xml, Home ".m2/settings-security.xml" Xml, Home ".gradle/gradle.properties" Ini(Settings),
        Home ".nuget/NuGet/NuGet.Config" Xml, Config "NuGet/NuGet.Config" Xml;
    "pgpass" "PostgreSQL":
        Home ".pgpass" Pgpass, Variable("PGPASSFILE") "" Pgpass, Home ".pg_service.conf" Ini(Credentials),
        Config "postgresql/pgpass.conf" Pgpass;
    "my.cnf" "MySQL": Home ".my.cnf" Ini(Credentials);
    "snowflake" "Snowflake and Databricks":
        Home ".snowflake/connections.toml" Toml(Credentials), Home ".snowflake/config.toml" Toml(Credentials),
        Config "snowflake/connections.toml" Toml(Credentials), Home ".snowsql/config" Ini(Credentials),
        Home ".databrickscfg" Ini(Credentials), Home ".dbt/profiles.yml" Yaml(Credentials);
    "hf" "Hugging Face":
        Cache "huggingface/token" Token, Cache "huggingface/stored_tokens" Ini(Credentials), Home ".huggingface/token" Token,
        Variable("HF_HOME") "token" Token, Variable("HF_HOME") "stored_tokens" Ini(Credentials), Variable("HF_TOKEN_PATH") "" Token;
    "kaggle" "Kaggle": Home ".kaggle/kaggle.json" Json(Credentials), Config "kaggle/kaggle.json" Json(Credentials);
    "modal" "Modal": Home ".modal.toml" Toml(Credentials);
    "rclone" "rclone": Config "rclone/rclone.conf" Ini(Credentials), Home ".rclone.conf" Ini(Credentials);
    "s3cfg" "s3cmd": Home ".s3cfg" Ini(Credentials), Home ".boto" Ini(Credentials);
    "minio" "MinIO client": Home ".mc/config.json" Json(Credentials);
    "doctl" "DigitalOcean": Config "doctl/config.yaml" Yaml(Credentials);
    "hcloud" "Hetzner Cloud": Config "hcloud/cli.toml" Toml(Credentials);
    "flyctl" "Fly.io": Home ".fly/config.yml" Yaml(Credentials);
    "vercel" "Vercel": Data "com.vercel.cli/auth.json" Json(Credentials), Config "com.vercel.cli/auth.json" Json(Credentials),
        Home ".vercel/auth.json" Json(Credentials);
    "netlify" "Netlify": Config "netlify/config.json" Json(Credentials), Home ".netlify/config.json" Json(Credentials);
    "railway" "Railway": Home ".railway/config.json" Json(Credentials);
    "neon" "Neon": Config "neonctl/credentials.json" Json(Credentials);
    "supabase" "Supabase": Home ".supabase/access-token" Token;
    "wrangler" "Cloudflare":
        Config ".wrangler/config/default.toml" Toml(Credentials), Home ".wrangler/config/default.toml" Toml(Credentials),
        Home ".cloudflared/*.json" Json(Credentials), Home ".cloudflared/cert.pem" PrivateKey;
    "firebase" "Firebase": Config "configstore/firebase-tools.json" Json(Credentials);
    "stripe" "Stripe": Config "stripe/config.toml" Toml(Credentials);
    "sentry" "Sentry": Home ".sentryclirc" Ini(Credentials);
    "ngrok" "ngrok": Config "ngrok/ngrok.yml" Yaml(Credentials), Home ".ngrok2/ngrok.yml" Yaml(Credentials);
    "atproto" "Command lines for AT Protocol": State "goat/auth-session.json" Json(Credentials), Config "bsky/*.json" Json(Credentials);
};
