package page

import (
	"crypto/sha256"
	_ "embed" // for the style, the script and the icon
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright/transport/dashboard/internal/chart"
)

var (
	//go:embed static/style.css
	style string
	//go:embed static/live.js
	source string
	//go:embed static/icon.svg
	icon []byte
)

// script is live.js without indentation and comments, so that browsers load fewer bytes.
var script = regexp.MustCompile(`(?m)^[ \t]+|^//.*\n| // .*$`).ReplaceAll([]byte(source), nil)

// sheet matches the indentation and the comments of a style sheet. They are deleted, so that browsers load fewer bytes.
var sheet = regexp.MustCompile(`(?m)^[ \t]+|^/\*.*\*/\n`)

// static holds the paths of the style, the script and the icon, without the prefix. Each path contains a hash of the file's content, so
// that browsers may cache the files.
type static struct{ Style, Script, Icon string }

// assets maps the path of each static file to its media type and content. statics holds the same paths by name.
var assets, statics = func() (map[string]asset, static) {
	css := sheet.ReplaceAll([]byte(style+chart.CSS), nil)
	s := static{Style: staticPath(css, "style.css"), Script: staticPath(script, "live.js"), Icon: staticPath(icon, "icon.svg")}
	return map[string]asset{
		s.Style: {"text/css; charset=utf-8", css}, s.Script: {"text/javascript; charset=utf-8", script}, s.Icon: {"image/svg+xml", icon},
	}, s
}()

type asset struct {
	kind string
	text []byte
}

func staticPath(text []byte, name string) string {
	sum := sha256.Sum256(text)
	return "/static/" + hex.EncodeToString(sum[:8]) + "/" + name
}

func serveStatic(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(a.text)))
}

// plainHost matches hosts that a Content-Security-Policy may name (CSP 3, section 2.3.1). The policy's grammar excludes IPv6 addresses.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]{1,255}(:[0-9]{1,5})?$`)

// secure sets the security headers of an answer. They allow a page to load only this site's resources, and forbid every site to show the
// page in a frame.
func (s *Site) secure(w http.ResponseWriter, r *http.Request) {
	styles, scripts := "'self'", "'self'"
	if plainHost.MatchString(r.Host) {
		styles, scripts = r.Host+s.cfg.Prefix+statics.Style, r.Host+s.cfg.Prefix+statics.Script
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+styles+"; script-src "+scripts+
		"; img-src 'self'; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.cfg.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
