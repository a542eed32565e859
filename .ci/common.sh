# What `.ci/run` and `.ci/full` share: sourced by both, from the root of the checkout.

say() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

# debian FILE PACKAGES...: installs Debian's packages where FILE is missing; false where it cannot.
debian() {
    local file="$1"
    shift
    [ -e "$file" ] && return
    command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
    # Runlevel 1: no package starts the server that it brings.
    apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

prepare() {
    if ! command -v uv >/dev/null; then python3 -m pip install --quiet uv; fi
    debian /usr/bin/chromedriver chromium chromium-driver || say "no browser to be had: its tests skip"
    uv sync --quiet --group agents --group docs || { say "no Sphinx to be had: the site's tests skip" && uv sync --quiet; }
    # Recorded runs and other real inputs, when they lie beside the checkout.
    local data="$PWD/../shared/data"
    if [ -d "$data" ]; then
        export THOUGHTGRAPH_REPLAY_LOGS="$data/gpt4_logs" THOUGHTGRAPH_SCENE_ORACLES="$data/scenes"
        export THOUGHTGRAPH_PLAN_FUZZ="$data/scenes" THOUGHTGRAPH_WIKI="$data/wiki"
        export THOUGHTGRAPH_TEST_SETS="$data" THOUGHTGRAPH_SQL="$data/sql"
    fi
}

# Builds the documentation's site into build/site, where its tests read it.
site() {
    if uv run --group docs python -c "import sphinx" 2>/dev/null; then
        uv run --group docs sphinx-build -E -W --keep-going -q -c docs/site . build/site
    fi
}
