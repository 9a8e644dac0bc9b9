package page

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// funcs contains the functions of all templates. prefix is Config.Prefix.
func funcs(prefix string) template.FuncMap {
	return template.FuncMap{
		"path":     func(parts ...string) string { return prefix + Path(parts...) },
		"csrf":     func() template.HTML { return csrfField },
		"time":     timeOf,
		"duration": Duration,
		"percent":  func(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" },
		"count":    countOf,
		"bytes":    bytesOf,
		"badge":    badge,
		"words":    Words,
		"sentence": sentence,
		"fault":    fault,
		"id":       fieldID,
		"invalid":  invalid,
		"clip":     func(n int, text string) string { return callwright.Clip(text, n) },
		"dict":     dict,
	}
}

// csrfField is the hidden input with the CSRF token. Every form whose method is not GET must contain it.
var csrfField = template.HTML(`<input type="hidden" name="` + tokenField + `" value="` + tokenMark + `">`) //nolint:gosec // a constant

// Path joins parts to a path below Config.Prefix. The first part, such as "/calls", stays unchanged. Each other part is escaped and follows
// a slash.
func Path(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		if i == 0 {
			b.WriteString(p)
			continue
		}
		b.WriteString("/" + url.PathEscape(p))
	}
	return b.String()
}

// timeOf formats a time.Time or *time.Time in UTC, and nil or the zero time as a dash. The script converts it to the browser's zone and
// shows UTC in the tooltip.
func timeOf(value any) (template.HTML, error) {
	var at time.Time
	switch v := value.(type) {
	case time.Time:
		at = v
	case *time.Time:
		if v != nil {
			at = *v
		}
	default:
		return "", fmt.Errorf("time of a %T", value)
	}
	if at.IsZero() {
		return "–", nil
	}
	at = at.UTC()
	return template.HTML(`<time datetime="` + at.Format("2006-01-02T15:04:05.000Z") + `">` + at.Format("2006-01-02 15:04:05") + ` UTC</time>`), nil //nolint:gosec // digits
}

// Duration formats a duration with one or two units: 320 ms, 4.2 s, 3 min 05 s, 2 h 10 min, 4 d 3 h.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "–" + Duration(-d)
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// countOf formats an integer with narrow spaces between groups of three digits. Any other value stays unchanged.
func countOf(n any) string {
	text := fmt.Sprint(n)
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return text
	}
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// bytesOf formats a size in B, kB or MB, with powers of 1000.
func bytesOf(n int64) string {
	const k = 1000
	switch {
	case n < k:
		return strconv.FormatInt(n, 10) + " B"
	case n < k*k:
		return strconv.FormatFloat(float64(n)/k, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/k/k, 'f', 1, 64) + " MB"
}

// sizeOf formats a size limit exactly, in MiB, KiB or bytes.
func sizeOf(n int64) string {
	switch {
	case n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// Words converts a name of a domain to lower-case words: HAPPY_PATH becomes "happy path".
func Words(name any) string { return strings.ReplaceAll(strings.ToLower(fmt.Sprint(name)), "_", " ") }

// Badge holds the arguments of the template function badge.
type Badge struct{ Kind, Text string }

// marks maps the kinds of badges to the signs beside their texts.
var marks = map[string]string{"good": "✓", "warn": "!", "bad": "✗", "busy": "…", "plain": "•"}

// badge renders a colored label. kind is good, warn, bad, busy or plain; any other kind is an error.
func badge(kind, text string) (template.HTML, error) {
	mark, ok := marks[kind]
	if !ok {
		return "", fmt.Errorf("no badge is %q", kind)
	}
	return template.HTML(`<span class="badge ` + kind + `"><span aria-hidden="true">` + mark + `</span> ` + template.HTMLEscapeString(text) + `</span>`), nil //nolint:gosec // escaped
}

// fault renders the error message of a field, or nothing if the field has no fault. The template function "invalid" makes the field's input
// refer to the message.
func fault(f Faults, field string) template.HTML {
	text, ok := f[field]
	if !ok {
		return ""
	}
	return template.HTML(`<p class="fault" id="` + faultID(field) + `">` + template.HTMLEscapeString(text) + `</p>`) //nolint:gosec // escaped
}

// faultID returns the id of the element that the function fault renders.
func faultID(field string) string { return "fault-" + fieldID(field) }

// fieldID returns the id of a field's element: the name with a dash in place of every character that is not an ASCII letter, a digit or "_".
func fieldID(field string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '-'
	}, field)
}

// invalid returns the attributes that mark an input as invalid and refer to its error message. It returns "" if the field has no fault.
func invalid(f Faults, field string) template.HTMLAttr {
	if _, ok := f[field]; !ok {
		return ""
	}
	return template.HTMLAttr(`aria-invalid="true" aria-describedby="` + faultID(field) + `"`) //nolint:gosec // escaped
}

// dict builds a map from alternating names and values, as the data of a nested template.
func dict(pairs ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok || !utf8.ValidString(name) {
			return nil, fmt.Errorf("the name %v is no text", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}
