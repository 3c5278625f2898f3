"""Tables of file suffixes and names: which media type they stand for, and which are never opened. Data only."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def _spread(rows: Mapping[str, str]) -> dict[str, str]:
    return {suffix: kind for kind, names in rows.items() for suffix in names.split()}


# Languages with a grammar or with definitions that a line can show; `text/x-<language>`.
_LANGUAGES = {
    "ada": "adb ads ada",
    "asm": "asm s",
    "awk": "awk",
    "bash": "sh bash zsh ksh bats ebuild",
    "batch": "bat cmd",
    "c": "c h",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl",
    "coffeescript": "coffee",
    "commonlisp": "lisp lsp cl",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp cu cuh",
    "crystal": "cr",
    "csharp": "cs csx",
    "css": "css scss sass less",
    "cython": "pyx pxd pxi",
    "d": "d",
    "dart": "dart",
    "elixir": "ex exs",
    "elm": "elm",
    "elisp": "el",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f f77 f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "gdscript": "gd",
    "glsl": "glsl vert frag geom comp",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs lhs",
    "hcl": "hcl tf tfvars",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "make": "mk mak",
    "matlab": "matlab",
    "nim": "nim nims",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml mli",
    "pascal": "pas pp dpr",
    "perl": "pl pm t",
    "php": "php phtml php5 php7",
    "powershell": "ps1 psm1 psd1",
    "prolog": "pro prolog",
    "protobuf": "proto",
    "puppet": "puppet",
    "python": "py pyi pyw",
    "r": "r",
    "racket": "rkt",
    "ruby": "rb rake gemspec ru",
    "rust": "rs",
    "scala": "scala sc sbt",
    "scheme": "scm ss",
    "solidity": "sol",
    "sql": "sql",
    "starlark": "bzl star bazel",
    "svelte": "svelte",
    "swift": "swift",
    "tcl": "tcl tk",
    "thrift": "thrift",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vb": "vb vbs bas",
    "verilog": "v sv svh vh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "vue": "vue",
    "zig": "zig",
}

TEXT_TYPES: Mapping[str, str] = {
    **_spread({f"text/x-{language}": names for language, names in _LANGUAGES.items()}),
    **_spread(
        {
            "text/markdown": "md markdown mdown mkd mkdn mdx mdc qmd rmd",
            "text/rst": "rst rest",
            "text/org": "org",
            "text/tex": "tex latex ltx sty cls bib",
            "text/asciidoc": "adoc asciidoc asc",
            "text/wiki": "wiki mediawiki textile",
            "text/troff": "man mdoc roff 1 2 3 4 5 6 7 8",
            "text/pod": "pod",
            "text/csv": "csv tsv psv",
            "text/json": "json jsonc json5 jsonl ndjson geojson webmanifest",
            "text/yaml": "yaml yml",
            "text/toml": "toml",
            "text/ini": "ini cfg conf properties env editorconfig service desktop",
            "text/xml": "xml xsd xsl xslt rng docbook dbk plist rss atom xliff",
            "text/html": "html htm xhtml shtml",
            "image/svg+xml": "svg",
            "text/diff": "diff patch",
            "text/plain": "txt text log srt vtt po pot",
        }
    ),
}

_VARIANTS = _spread(
    {
        "docx": "docm dotx dotm",
        "pptx": "pptm ppsx ppsm potx potm",
        "xlsx": "xlsm xltx xltm",
        "odt": "ott odm",
        "ods": "ots",
        "odp": "otp",
        "doc": "dot",
        "xls": "xlt",
        "ppt": "pps",
    }
)
"""Templates, shows and files with macros, which are built like the plain ones."""

_DOCUMENTS = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
    "msg": "application/vnd.ms-outlook",
    "rtf": "application/rtf",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "ipynb": "application/x-ipynb+json",
}
DOCUMENT_TYPES: Mapping[str, str] = {
    **_DOCUMENTS,
    **{suffix: _DOCUMENTS[usual] for suffix, usual in _VARIANTS.items()},
}

OFFICE_SUFFIXES = ("docx", "pptx", "xlsx", "xlsb", "odt", "ods", "odp", "epub", "rtf", "doc", "xls", "ppt")
"""Usual suffixes of the formats that the parser of office documents reads."""
_ZIPPED = ("docx", "pptx", "xlsx", "xlsb", "odt", "ods", "odp", "epub")
CONTAINERS: Mapping[str, frozenset[str]] = {
    "application/zip": frozenset(DOCUMENT_TYPES[suffix] for suffix in _ZIPPED),
    "application/x-ole-storage": frozenset(DOCUMENT_TYPES[suffix] for suffix in ("doc", "xls", "ppt", "msg")),
}
"""Document types that may really begin with the mark of this container."""

FORMAT_NAMES: Mapping[str, str] = {
    "application/pdf": "PDF",
    DOCUMENT_TYPES["docx"]: "Word (.docx)",
    DOCUMENT_TYPES["pptx"]: "PowerPoint (.pptx)",
    DOCUMENT_TYPES["xlsx"]: "Excel (.xlsx)",
    DOCUMENT_TYPES["odt"]: "OpenDocument text",
    DOCUMENT_TYPES["ods"]: "OpenDocument spreadsheet",
    DOCUMENT_TYPES["odp"]: "OpenDocument presentation",
    DOCUMENT_TYPES["epub"]: "EPUB",
    DOCUMENT_TYPES["xlsb"]: "binary Excel (.xlsb)",
    DOCUMENT_TYPES["doc"]: "old Word (.doc)",
    DOCUMENT_TYPES["xls"]: "old Excel (.xls)",
    DOCUMENT_TYPES["ppt"]: "old PowerPoint (.ppt)",
    DOCUMENT_TYPES["msg"]: "Outlook message (.msg)",
    DOCUMENT_TYPES["rtf"]: "RTF",
    DOCUMENT_TYPES["eml"]: "mail (.eml)",
    DOCUMENT_TYPES["mbox"]: "mailbox (.mbox)",
    DOCUMENT_TYPES["ipynb"]: "Jupyter notebook",
}

INSTEAD: Mapping[str, str] = {DOCUMENT_TYPES["msg"]: "save them as .eml"}
"""What to do about a format that no parser reads."""

FILE_NAMES: Mapping[str, str] = {
    "makefile": "text/x-make",
    "gnumakefile": "text/x-make",
    "kconfig": "text/plain",
    "dockerfile": "text/x-dockerfile",
    "containerfile": "text/x-dockerfile",
    "jenkinsfile": "text/x-groovy",
    "vagrantfile": "text/x-ruby",
    "gemfile": "text/x-ruby",
    "rakefile": "text/x-ruby",
    "podfile": "text/x-ruby",
    "brewfile": "text/x-ruby",
    "cmakelists.txt": "text/x-cmake",
    "build.bazel": "text/x-starlark",
    "workspace.bazel": "text/x-starlark",
    "procfile": "text/plain",
    "license": "text/plain",
    "licence": "text/plain",
    "copying": "text/plain",
    "notice": "text/plain",
    "authors": "text/plain",
    "readme": "text/plain",
    "changelog": "text/plain",
    "news": "text/plain",
    "todo": "text/plain",
    ".bashrc": "text/x-bash",
    ".bash_profile": "text/x-bash",
    ".profile": "text/x-bash",
    ".zshrc": "text/x-bash",
    ".vimrc": "text/x-vim",
    ".gitignore": "text/plain",
    ".gitconfig": "text/ini",
    ".editorconfig": "text/ini",
    ".env": "text/ini",
}

BINARY_SUFFIXES: Mapping[str, str] = _spread(
    {
        "pictures": "png jpg jpeg gif webp bmp ico tif tiff heic heif avif psd xcf eps raw cr2 nef icns",
        "sound": "mp3 wav ogg oga flac aac m4a opus wma mid midi",
        "films": "mp4 mov avi mkv webm m4v mpg mpeg wmv flv",
        "archives": "zip gz tgz tar xz txz bz2 tbz 7z rar zst lz4 lzma jar war ear whl egg deb rpm apk dmg iso cab",
        "programs": "exe dll so dylib a o obj lib ko elf wasm pyc pyo class dex sys msi nar pdb",
        "fonts": "woff woff2 ttf otf eot pfb",
        "databases": "sqlite sqlite3 db mdb accdb lance parquet arrow feather orc avro h5 hdf5 npy npz rdb ldb sst",
        "models": "onnx pt pth safetensors gguf ggml pkl pickle joblib tflite pb ckpt",
        "binary data": "bin img vmdk qcow2 vdi swp swo keystore jks p12 pfx der gpg",
    }
)
"""Suffix to what such files are; their content is never opened."""
PICTURES = "pictures"
READABLE_PICTURES = frozenset({"png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"})
"""Suffixes of pictures that the OCR parser opens where the configuration has it."""
IMAGE_DETAIL = "a picture, whose words only OCR can read"
OCR_REMEDY = "knowledgebase.ocr, which needs hermes-lance[ocr]"


def unopened(*, reads_images: bool, but: Collection[str] = ()) -> tuple[frozenset[str], frozenset[str]]:
    """Suffixes, with their dot, of files that are never opened: those of binary files, and those of pictures; without
    the ones in `but`."""
    pictures = {suffix for suffix, what in BINARY_SUFFIXES.items() if what == PICTURES}
    closed = pictures - READABLE_PICTURES if reads_images else pictures
    others = BINARY_SUFFIXES.keys() - pictures
    binary, images = (frozenset(f".{suffix}" for suffix in part).difference(but) for part in (others, closed))
    return binary, images
