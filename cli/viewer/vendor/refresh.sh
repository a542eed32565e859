#!/bin/sh
# Takes d3.min.js and its licence, unchanged, out of d3's npm package.
# To move to another version, change both lines below: `npm view d3@VERSION dist.integrity`.
set -eu
version=7.9.2
integrity='sha512-ZKb/mONPVKzaO5UlcWcwN8bS4ezvQaYu+bsou+XgNABdGC800kwH651ADTbbTxMPHW13UlvbQafdmJQDk1w7Mg=='

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "d3@$version" >/dev/null
found=sha512-$(openssl dgst -sha512 -binary "d3-$version.tgz" | openssl base64 -A)
[ "$found" = "$integrity" ] || { echo "d3-$version.tgz is not the pinned package" >&2; exit 1; }
tar xzf "d3-$version.tgz"
cp package/dist/d3.min.js "$here/d3.min.js"
cp package/LICENSE "$here/LICENSE.d3.txt"
