/** A place below the home directory that a known agent or tool writes. */
export interface HomePlace {
	/** Below the home directory. */
	readonly path: string;
	readonly owner: 'agent' | 'tool';
}

/** Settings, transcripts and logins of coding agents: always visible, writes kept in the session. */
export const AGENT_PLACES: readonly HomePlace[] = [
	'.claude',
	'.claude.json',
	'.config/claude',
	'.local/share/claude',
	'.local/state/claude',
	'.codex',
	'.gemini',
	'.config/opencode',
	'.local/share/opencode',
	'.local/state/opencode',
	'.cache/opencode',
	'.config/goose',
	'.local/share/goose',
	'.local/state/goose',
	'.aider.conf.yml',
	'.aider.model.settings.yml',
	'.aider',
	'.cursor',
	'.config/cursor',
	'.local/share/cursor-agent',
	'.continue',
	'.copilot',
	'.config/github-copilot',
	'.qwen',
	'.kimi',
	'.crush',
	'.config/crush',
	'.local/share/crush',
	'.config/amp',
	'.local/share/amp',
	'.factory',
	'.kiro',
	'.pi',
].map((path) => ({ path, owner: 'agent' }));

/**
 * Caches that tools can make again. They are live in the home layer, but not taken into snapshots: they are large, change
 * often, and rewinding them helps nobody.
 */
export const UNVERSIONED_PLACES: readonly string[] = [
	'.cache',
	'.npm/_cacache',
	'.npm/_logs',
	'.npm/_npx',
	'.cargo/registry',
	'.cargo/git',
	'.rustup',
	'.gradle/caches',
	'.gradle/daemon',
	'.gradle/wrapper',
	'.m2/repository',
	'.ivy2/cache',
	'.sbt/boot',
	'.nuget/packages',
	'.bun/install/cache',
	'.deno',
	'.nvm/.cache',
	'.pyenv/cache',
	'.conda/pkgs',
	'.local/share/pnpm/store',
	'.local/share/uv',
	'.local/share/virtualenv',
	'.yarn/berry/cache',
	'.yarn/cache',
	'go/pkg/mod',
	'.node-gyp',
	'.electron-gyp',
	'.ccache',
	'.hex/packages',
	'.stack/pantry',
	'.cabal/packages',
	'.opam/download-cache',
	'.local/share/Trash',
];

/** Directories of tools that get a layer of their own where home cannot have one as a whole. */
export const TOOL_PLACES: readonly HomePlace[] = [
	'.cache',
	'.config',
	'.local/share',
	'.local/state',
	'.npm',
	'.cargo',
	'.rustup',
	'.gradle',
	'.m2',
	'.bun',
	'.deno',
	'.nvm',
	'.pyenv',
	'.yarn',
	'.ccache',
	'go',
].map((path) => ({ path, owner: 'tool' }));
