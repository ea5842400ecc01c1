"""Programs that make and read documents, pictures and sound; cryptography;
the browser."""

import os

from catalogue import batch, work

PAGE = """<!doctype html><title>t</title><style>body{font:20px monospace}
div{display:inline-block;width:90px;height:60px;margin:4px}</style>
<h1>A page</h1><p id=p></p><script>
let text = '';
for (let i = 0; i < 2000; i++) text += (i * 7919).toString(16);
document.getElementById('p').textContent = text.length;
for (let i = 0; i < 40; i++) { const d = document.createElement('div');
  d.style.background = `hsl(${i * 9},70%,60%)`; document.body.append(d); }
</script>"""

POSTSCRIPT = """%!PS
/Helvetica findfont 14 scalefont setfont
1 1 5 { /n exch def
  0 10 700 { dup 72 exch moveto (line ) show 20 string cvs show } for
  0 5 360 { gsave 300 400 translate rotate 0 0 moveto 100 0 lineto
    n 5 div 0 0 setrgbcolor stroke grestore } for
  showpage } for
"""


def media(name, package, argv, prepare=None, **more):
    batch(name, "Media and documents", package, argv, prepare, **more)


media("ffmpeg", "ffmpeg",
      ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
       "testsrc=size=320x240:rate=25:duration=4", "-f", "lavfi", "-i",
       "sine=duration=4", "-threads", "2", "-c:v", "mpeg4", "-c:a", "aac",
       "-bitexact", "-y", "out.mkv"])
media("imagemagick", "imagemagick",
      ["convert-im6.q16", "-size", "600x400", "plasma:fractal", "-seed", "7",
       "-blur", "0x4", "-resize", "50%", "-rotate", "10", "-strip",
       "out.png"], needs=["convert-im6.q16"])
media("ghostscript", "ghostscript",
      ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=png16m", "-r60",
       "-sOutputFile=page%d.png", "a.ps"],
      lambda place: place.file("a.ps", POSTSCRIPT))


def a_pdf(place):
    place.file("a.ps", POSTSCRIPT)
    place.help(["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=pdfwrite",
                "-sOutputFile=a.pdf", "a.ps"])


media("poppler: pdftoppm", "poppler-utils",
      ["pdftoppm", "-r", "50", "a.pdf", "page"], a_pdf, hide=["a.pdf"])
media("poppler: pdftotext", "poppler-utils",
      ["pdftotext", "-layout", "a.pdf", "-"], a_pdf, hide=["a.pdf"])
media("graphviz", "graphviz", ["dot", "-Tsvg", "-o", "a.svg", "a.dot"],
      lambda place: place.file("a.dot", "digraph { %s }" % " ".join(
          "n%d -> n%d;" % (i, i * 7 % 60) for i in range(120))))
media("sox", "sox", ["sox", "-R", "-n", "-r", "22050", "a.wav", "synth", "6",
                     "sine", "300-3300", "reverb", "rate", "44100"])
media("exiftool", "libimage-exiftool-perl",
      ["exiftool", "-G", "-FileSize", "-FileType", "-ImageSize",
       "/usr/share/pixmaps/debian-logo.png"])
media("emacs", "emacs-nox",
      ["emacs", "-Q", "--batch", "--eval",
       "(progn (with-temp-buffer (dotimes (i 20000) (insert (format \"%x \" (* "
       "i 7919)))) (sort-numeric-fields 1 1 (point-max)) (message \"%d\" "
       "(point-max))) (kill-emacs 4))"])


def secret(name, package, argv, prepare=None, **more):
    batch(name, "Cryptography", package, argv, prepare, **more)


secret("openssl speed", "openssl",
       ["openssl", "speed", "-seconds", "1", "-bytes", "1024", "sha256"],
       least=1, timed=False)
secret("openssl genrsa", "openssl",
       ["sh", "-c", "openssl req -x509 -newkey rsa:2048 -nodes -keyout key "
        "-out cert -days 9 -subj /CN=a -batch && openssl verify -CAfile cert "
        "cert"], needs=["openssl"], least=3, timed=False)
secret("ssh-keygen", "openssh-client",
       ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"])
secret("gpg", "gnupg",
       ["sh", "-c", "mkdir -m 700 g; gpg --homedir g --batch --passphrase '' "
        "--quick-gen-key a@b && echo text | gpg --homedir g -q --batch "
        "--trust-model always -r a@b -e | gpg --homedir g -q --batch -d; "
        "s=$?; gpgconf --homedir g --kill all; exit $s"],
       needs=["gpg", "gpg-agent"], least=1, hide=["g"], timed=False)


# The wrapper script of the package asks for the machine's memory, and writes
# nothing of use.
CHROMIUM = "/usr/lib/chromium/chromium"


def chromium(name, sandbox, *options, note=""):
    """As root it refuses to run with its sandbox: run as nobody then."""
    user = "nobody" if os.geteuid() == 0 else None

    @work("chromium " + name, "Browser", "chromium", needs=[CHROMIUM],
          least=3, countable=False, unpaired=0.001, note=note)
    def run(place):
        place.file("page.html", PAGE)
        os.chmod(place.directory, 0o755)
        if user:
            place.give_to(user)
        words = [CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars",
                 "--window-size=400,400", "--user-data-dir=" +
                 place.path("profile"), "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-background-networking",
                 *([] if sandbox else ["--no-sandbox"]), *options,
                 "file://" + place.path("page.html")]
        done = place.run(words, user=user)
        done.err = b""		# times, and words of threads in any order
        done.files = place.left(["profile", ".", "core"])
        return done


chromium("(a screenshot, sandboxed)", True, "--screenshot",
         note="The program contains its own malloc, PartitionAlloc: gnomon patches "
         "its entry points. Some parts, mainly the graphics library, allocate "
         "by inner functions without a name and free by free, or the reverse: "
         "those few events lack their counterpart. Its renderers start in an "
         "empty root directory, where no trace can be made, and are not "
         "recorded.")
chromium("(a screenshot, no sandbox)", False, "--screenshot")
chromium("(dump the DOM)", True, "--dump-dom")
