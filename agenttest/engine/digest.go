package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/callwright/callwright/agents/llm"
)

// digest identifies a request to a model by its role, the model and every field. It need not be stable between releases, because a journal
// exists only as long as its run. A cassette, in contrast, is readable and outlives releases.
type digest [sha256.Size]byte

// form is the encoding of a request that is hashed. Texts and lists begin with their lengths, so that different requests have different
// forms.
type form []byte

// forms pools the buffers of forms.
var forms = sync.Pool{New: func() any { return new(form) }}

func (f *form) text(s string) {
	*f = append(binary.AppendUvarint(*f, uint64(len(s))), s...)
}

func (f *form) bytes(b []byte) {
	*f = append(binary.AppendUvarint(*f, uint64(len(b))), b...)
}

func (f *form) number(n int) { *f = binary.AppendVarint(*f, int64(n)) }

func (f *form) flag(on bool) {
	if on {
		f.number(1)
	} else {
		f.number(0)
	}
}

func (f *form) texts(list []string) {
	f.number(len(list))
	for _, s := range list {
		f.text(s)
	}
}

func (f *form) float(v *float64) {
	f.flag(v != nil)
	if v != nil {
		*f = binary.BigEndian.AppendUint64(*f, math.Float64bits(*v))
	}
}

func (f *form) messages(list []llm.Message) {
	f.number(len(list))
	for _, m := range list {
		f.text(string(m.Role))
		f.text(m.Text)
		f.text(m.Call)
		f.number(len(m.Calls))
		for _, c := range m.Calls {
			f.text(c.ID)
			f.text(c.Name)
			f.bytes(c.Arguments)
			if len(c.Extra) > 0 { // most services send none, so the digests of stored answers stay valid
				f.bytes(c.Extra)
			}
		}
	}
}

func (f *form) values(v map[string]any) {
	f.number(len(v))
	names := make([]string, 0, 16) // 16 names fit on the stack
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f.text(name)
		f.value(v[name])
	}
}

// value appends a value, preceded by a byte for its type.
func (f *form) value(v any) {
	switch v := v.(type) {
	case string:
		*f = append(*f, 's')
		f.text(v)
	case int64:
		*f = binary.AppendVarint(append(*f, 'i'), v)
	case float64:
		*f = binary.BigEndian.AppendUint64(append(*f, 'f'), math.Float64bits(v))
	case bool:
		*f = append(*f, 'b')
		f.flag(v)
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			raw = fmt.Append(nil, v)
		}
		*f = append(*f, 'j')
		f.bytes(raw)
	}
}

func (f *form) reply(r *llm.ReplyRequest) {
	f.text("reply")
	f.text(string(r.Org))
	f.text(string(r.Task))
	f.text(r.Instructions)
	f.texts(r.Knowledge)
	f.texts(r.Facts)
	f.text(r.Language)
	f.float(r.Temperature)
	f.text(r.Model)
	f.messages(r.Messages)
	f.flag(r.Arriving)
	f.flag(r.CanEnd)
	f.flag(r.CanTransfer)
	f.number(len(r.Tools))
	for _, t := range r.Tools {
		f.text(t.Name)
		f.text(t.Description)
		f.bytes(t.Parameters)
	}
	f.number(r.Trial)
	f.number(r.Attempt)
	if r.Unheard != "" { // runs have no interruptions, so the digests of stored answers stay valid
		f.text(r.Unheard)
	}
	if r.Fallback != "" { // likewise
		f.text("fallback " + r.Fallback)
	}
}

func (f *form) question(q *llm.Question) {
	f.text("question")
	f.text(string(q.Org))
	f.text(string(q.Task))
	f.text(q.Instructions)
	f.messages(q.Messages)
	f.values(q.Variables)
	f.number(len(q.Options))
	for _, o := range q.Options {
		f.texts([]string{o.ID, o.Label, o.Description, o.Condition})
		f.flag(o.Otherwise)
	}
	f.number(len(q.Fields))
	for _, v := range q.Fields {
		f.texts([]string{v.Name, string(v.Type), v.Description})
	}
	f.bytes(q.Evidence)
	f.bytes(q.Schema)
	f.text(q.Language)
	f.text(q.Model)
	f.float(q.Temperature)
	f.text(q.Problem)
	f.number(q.Trial)
	f.number(q.Attempt)
	if q.Fallback != "" { // likewise
		f.text("fallback " + q.Fallback)
	}
}
