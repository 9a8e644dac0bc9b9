package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// The format of a CSRF token.
const (
	tokenField = "csrf"
	padLen     = 16 // bytes of the random pad, which protects the token in a compressed page (BREACH)
)

// tokenMark is the placeholder for the CSRF token in rendered pages. Request.fill replaces it by a token of the browser. The placeholder is
// random, so that no other text contains it.
var tokenMark = "token-" + rand.Text() + rand.Text()

// knowBrowser reads the session token and the secret of the browser's forms from cookies. It creates the secret if the browser has none.
func (s *Site) knowBrowser(w http.ResponseWriter, r *Request) {
	if c, err := r.Cookie(s.cookieName("session")); err == nil && s.cfg.Sessions != nil {
		r.token = c.Value
	}
	if c, err := r.Cookie(s.cookieName("form")); err == nil && len(c.Value) >= 26 && len(c.Value) <= 64 {
		r.form = c.Value
		return
	}
	r.form = rand.Text()
	s.setCookie(w, "form", r.form, 0)
}

// sum returns the MAC in the CSRF tokens of this browser and session.
func (r *Request) sum() []byte {
	mac := hmac.New(sha256.New, []byte(r.form))
	mac.Write([]byte(r.token))
	return mac.Sum(nil)[:padLen]
}

// newToken returns a CSRF token. Each call returns a different token.
func (r *Request) newToken() string {
	var b [2 * padLen]byte
	_, _ = rand.Read(b[:padLen]) // never fails
	subtle.XORBytes(b[padLen:], b[:padLen], r.sum())
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// checkToken reports whether a CSRF token is valid for this browser and session.
func (r *Request) checkToken(token string) bool {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(b) != 2*padLen {
		return false
	}
	subtle.XORBytes(b[padLen:], b[:padLen], b[padLen:])
	return hmac.Equal(b[padLen:], r.sum())
}

// partMemory is the maximum number of bytes of a form's files that are held in memory. The rest is in temporary files until the request is
// finished.
const partMemory = 1 << 20

// readForm parses a form and checks its CSRF token. It returns CodePayloadTooLarge for a form that is too large, CodeBadRequest for a form
// that cannot be parsed or contains invalid text, and CodeForbidden for an invalid token.
func (s *Site) readForm(w http.ResponseWriter, r *Request, route Route) error {
	most := route.MaxBody
	if most == 0 {
		most = MaxForm
	}
	var err error
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		r.Body = http.MaxBytesReader(w, r.Body, most+route.Files)
		err = r.ParseMultipartForm(partMemory)
	} else {
		r.Body = http.MaxBytesReader(w, r.Body, most)
		err = r.ParseForm()
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || textOf(r.PostForm) > most {
		if route.Files > 0 {
			return callwright.Errorf(callwright.CodePayloadTooLarge, "the form must have at most %s, and its files at most %s", sizeOf(most), sizeOf(route.Files))
		}
		return callwright.Errorf(callwright.CodePayloadTooLarge, "the form must have at most %s", sizeOf(most))
	}
	if err != nil {
		return callwright.Errorf(callwright.CodeBadRequest, "the form cannot be read: open its page again, and send it from there").Because(err)
	}
	if err := checkTexts(r.PostForm); err != nil {
		return err
	}
	if !r.checkToken(r.PostForm.Get(tokenField)) {
		return callwright.Errorf(callwright.CodeForbidden, "this form has expired because you have signed in or out: reload the page and try again")
	}
	return nil
}

// textOf returns the total size of names and values in bytes. A name counts once per value.
func textOf(fields url.Values) (n int64) {
	for name, values := range fields {
		for _, v := range values {
			n += int64(len(name) + len(v))
		}
	}
	return n
}

// isNoText reports whether a text is invalid UTF-8 or contains a NUL character, so that databases cannot store it.
func isNoText(s string) bool { return !utf8.ValidString(s) || strings.Contains(s, "\x00") }

// checkTexts returns CodeBadRequest for the first field, by name, that isNoText reports.
func checkTexts(fields url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if isNoText(name) {
			return callwright.Invalid("", "the names of fields must be UTF-8 without NUL characters")
		}
		if slices.ContainsFunc(fields[name], isNoText) {
			return callwright.Invalid(name, "must be UTF-8 without NUL characters")
		}
	}
	return nil
}

// Faults maps the names of form fields to error messages. The empty name represents the whole form.
type Faults map[string]string

// FaultsOf converts an error of a domain to the faults of a form. It reports false if the user can neither correct the form nor send it
// again later; the error then requires an error page. names maps field names of the domain to different field names of the form. If fields
// is not empty, a fault of any other field becomes a fault of the whole form.
func FaultsOf(err error, names map[string]string, fields ...string) (Faults, bool) {
	e, ok := errors.AsType[*callwright.Error](err)
	if !ok || !mendable(e) {
		return nil, false
	}
	field, text := e.Field, e.Message
	if name, ok := names[field]; ok {
		field = name
	}
	if wait, ok := callwright.RetryAfter(err); ok {
		text += ". Try again in " + Duration(wait)
	}
	if len(fields) > 0 && field != "" && !slices.Contains(fields, field) {
		field, text = "", field+": "+text
	}
	return Faults{field: text}, true
}

// mendable reports whether the user can correct the error, or whether sending the form again later may succeed.
func mendable(e *callwright.Error) bool {
	switch e.Code {
	case callwright.CodeBadRequest, callwright.CodeConflict, callwright.CodeInvalidState, callwright.CodeUnsupportedMedia,
		callwright.CodePayloadTooLarge, callwright.CodePromotionGateFailed, callwright.CodeCallNotAttached, callwright.CodeTooManyRequests:
		return true
	case callwright.CodeNotFound: // a field refers to a missing object
		return e.Field != ""
	case callwright.CodeUnavailable: // the server is busy, or cannot support the field's value
		return e.Field != "" || e.RetryAfter > 0
	default:
		return false
	}
}
