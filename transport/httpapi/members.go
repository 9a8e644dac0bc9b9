package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	"github.com/callwright/callwright/transport/oas"
)

// Ignored is a member of a body that the server accepted without effect.
type Ignored struct{ Field, Message string }

// IgnoredMembers returns the members of the request's body that had no effect, for the member `ignored` of the answer.
func IgnoredMembers(ctx context.Context) []Ignored { return infoOf(ctx).ignored }

// Ignore adds a member that a handler ignores to IgnoredMembers, up to maxIgnored members. Repeated calls add it only once, because a
// handler may run again.
func Ignore(ctx context.Context, field, message string) {
	member := Ignored{cut(field), message}
	if info := infoOf(ctx); !slices.Contains(info.ignored, member) && len(info.ignored) < maxIgnored {
		info.ignored = append(info.ignored, member)
	}
}

// IgnoreAll adds members that a handler ignores, with the reasons as messages, as Ignore does.
func IgnoreAll(ctx context.Context, members callwright.FieldErrors) {
	for _, m := range members {
		Ignore(ctx, m.Field, m.Message)
	}
}

// maxIgnored is the maximum number of ignored members that an answer names: see IgnoredMembers in the contract.
const maxIgnored = 100

// members holds the contract's rules for the members of an operation's body.
type members struct {
	area      *Area
	operation string // id of the operation
	info      *requestInfo
}

// prepare rewrites a body for the generated decoder. It renames members that are given under an alias, and removes members that count as
// absent: null members for which null is not a value, and members without effect. It records the ignored members and refuses forbidden
// ones. It returns invalid JSON unchanged, so that the decoder refuses it.
func (m members) prepare(text []byte) ([]byte, error) {
	if m.area == nil || len(m.area.NoEffect)+len(m.area.Aliases) == 0 && !bytes.Contains(text, []byte("null")) {
		return text, nil
	}
	if !json.Valid(text) {
		return text, nil
	}
	w := memberWriter{members: m}
	w.out.Grow(len(text))
	err := w.value(jx.DecodeBytes(text), m.operation+" ", "")
	if refused, ok := errors.AsType[*callwright.Error](err); ok {
		return nil, refused
	}
	if err != nil {
		return text, nil //nolint:nilerr // the decoder says it better
	}
	m.info.ignored = append(m.info.ignored, w.ignored...)
	return w.out.Bytes(), nil
}

// memberWriter copies JSON, and renames or omits members.
type memberWriter struct {
	members
	out     bytes.Buffer
	ignored []Ignored
}

// value copies the next value of a decoder. key is its key in the area's maps, and path is its path in messages.
func (w *memberWriter) value(d *jx.Decoder, key, path string) error {
	switch d.Next() {
	case jx.Object:
		w.out.WriteByte('{')
		o := object{from: w.out.Len(), key: key, path: path, named: map[string]named{}}
		err := d.ObjBytes(func(d *jx.Decoder, name []byte) error { return w.member(d, &o, string(name)) })
		w.out.WriteByte('}')
		return err
	case jx.Array:
		w.out.WriteByte('[')
		i := 0
		err := d.Arr(func(d *jx.Decoder) error {
			if i > 0 {
				w.out.WriteByte(',')
			}
			i++
			if kind := d.Next(); kind != jx.Object && kind != jx.Array {
				return w.value(d, "", "")
			}
			return w.value(d, key+"[]", fmt.Sprintf("%s[%d]", path, i-1))
		})
		w.out.WriteByte(']')
		return err
	default:
		raw, err := d.Raw()
		w.out.Write(raw)
		return err
	}
}

// object is the state of an object that is being written.
type object struct {
	from      int // offset in the output after its opening brace
	key, path string
	named     map[string]named // members so far, by their names in the contract
}

// named is the JSON text of a member's value, and whether an alias named the member.
type named struct {
	value string
	alias bool
}

// member copies a member under its name in the contract, unless the member counts as absent. A member that is given under two names must
// have the same value under both.
func (w *memberWriter) member(d *jx.Decoder, o *object, name string) error {
	path := wire.Join(o.path, name)
	key := o.of(name)
	plain := name != "" && !strings.ContainsAny(name, ".[ ") // otherwise its key could equal another member's
	if plain && d.Next() == jx.Null && w.area.NullIsAbsent[key] {
		return d.Null()
	}
	if effect, ok := w.area.NoEffect[key]; ok && plain {
		return w.withoutEffect(d, path, effect)
	}
	known, alias := w.area.Aliases[key]
	if !plain || !alias {
		known = name
	}
	before := w.out.Len()
	if before > o.from {
		w.out.WriteByte(',')
	}
	var e jx.Encoder
	e.Str(known)
	w.out.Write(e.Bytes())
	w.out.WriteByte(':')
	from := w.out.Len()
	if err := w.value(d, o.of(known), wire.Join(o.path, known)); err != nil || len(w.area.Aliases) == 0 {
		return err
	}
	value := named{string(w.out.Bytes()[from:]), alias && plain}
	other, given := o.named[known]
	o.named[known] = value
	switch {
	case !given:
	case other.value != value.value:
		return callwright.Invalid(path, "must equal %s, its other name", w.otherName(o, known, name))
	default:
		w.out.Truncate(before)
	}
	return nil
}

// of returns the key of the object's member with the given name in the maps of the area.
func (o *object) of(name string) string {
	if strings.HasSuffix(o.key, " ") {
		return o.key + name
	}
	return o.key + "." + name
}

// otherName returns another name of a member that was given twice, different from the argument name. known is the member's name in the
// contract.
func (w *memberWriter) otherName(o *object, known, name string) string {
	if name != known {
		return known
	}
	for key, of := range w.area.Aliases {
		if alias := key[strings.LastIndexAny(key, " .")+1:]; of == known && o.of(alias) == key {
			return alias
		}
	}
	return known
}

// withoutEffect skips the value of a member that has no effect. It refuses the value, or records the member as ignored, unless the value
// requests nothing.
func (w *memberWriter) withoutEffect(d *jx.Decoder, path string, effect oas.NoEffect) error {
	raw, err := d.Raw()
	if err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	switch {
	case compact.String() == "null" || slices.Contains(effect.Nothing, compact.String()):
	case effect.Refused:
		return callwright.Invalid(path, "%s", effect.Reason)
	case len(w.ignored) < maxIgnored:
		w.ignored = append(w.ignored, Ignored{cut(path), effect.Reason})
	}
	return nil
}
