// Package tree reads JSON once and keeps it as it was written: the kinds, members and texts of a value can be looked at
// without decoding it into maps, and it can be written in one canonical form.
package tree

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the type of a value of JSON.
type Kind byte

// The kinds. The zero Value is Absent.
const (
	Absent Kind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

// String names the kind as people say it.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Value is a value of JSON. Copies share what they hold, which never changes: Set and Remove change only the Value that
// they are called on.
type Value struct {
	Kind    Kind
	Raw     string   // as it was written, without blanks around it; not kept up by Set and Remove
	Members []Member // of an Object or an Array, as they were written: also where a name comes twice
}

// Member is a member of an object, or of a list, where it has no name.
type Member struct {
	Name string
	Value
}

// Get is a member of an object; the last where a name comes twice, as encoding/json has it, and the zero Value where
// there is none.
func (v *Value) Get(name string) Value {
	if m := v.find(name); m != nil {
		return *m
	}
	return Value{}
}

// Items are the items of an Array; none for any other kind.
func (v *Value) Items() []Member {
	if v.Kind != Array {
		return nil
	}
	return v.Members
}

// find points to a member; nil: there is none.
func (v *Value) find(name string) *Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// Set gives a member of an object a value.
func (v *Value) Set(name string, to Value) {
	v.Members = slices.Clone(v.Members)
	if m := v.find(name); m != nil {
		*m = to
		return
	}
	v.Members = append(v.Members, Member{name, to})
}

// Remove takes the members of an object that fit away.
func (v *Value) Remove(fits func(name string) bool) {
	gone := func(m Member) bool { return fits(m.Name) }
	if slices.ContainsFunc(v.Members, gone) {
		v.Members = slices.DeleteFunc(slices.Clone(v.Members), gone)
	}
}

// Text is the text of a String with its escapes resolved, and empty for any other kind.
func (v *Value) Text() string {
	if v.Kind != String {
		return ""
	}
	return unquote(v.Raw)
}

// True says whether the value is true.
func (v *Value) True() bool { return v.Kind == Boolean && v.Raw == "true" }

// Float is a Number, and 0 for any other kind. A number that is too large is an infinity.
func (v *Value) Float() float64 {
	if v.Kind != Number {
		return 0
	}
	n, _ := strconv.ParseFloat(v.Raw, 64)
	return n
}

// Append writes the value with the members in their order, and what was not changed as it was written.
func (v *Value) Append(to []byte) []byte {
	switch v.Kind {
	case Object:
		to = append(to, '{')
		for i := range v.Members {
			to = append(appendText(separate(to, i), v.Members[i].Name), ':')
			to = v.Members[i].Append(to)
		}
		return append(to, '}')
	case Array:
		to = append(to, '[')
		for i := range v.Members {
			to = v.Members[i].Append(separate(to, i))
		}
		return append(to, ']')
	case Absent:
		return append(to, "null"...)
	default:
		return append(to, v.Raw...)
	}
}

// AppendCanonical writes the value so that equal values look equal: members sorted by the bytes of their names and each
// once, no blanks, texts with no escape that is not needed, numbers in their shortest form.
func (v *Value) AppendCanonical(to []byte) []byte {
	switch v.Kind {
	case Object:
		return v.appendSorted(to)
	case Array:
		to = append(to, '[')
		for i := range v.Members {
			to = v.Members[i].AppendCanonical(separate(to, i))
		}
		return append(to, ']')
	case String:
		if strings.IndexByte(v.Raw, '\\') < 0 {
			return append(to, v.Raw...)
		}
		var room [1 << 10]byte
		return appendText(to, appendUnquoted(room[:0], v.Raw))
	case Number:
		return appendNumber(to, v.Raw)
	default:
		return v.Append(to)
	}
}

// appendSorted writes an object in its canonical form.
func (v *Value) appendSorted(to []byte) []byte {
	var few [24]int // as many as most objects have
	order := few[:0]
	for i := range v.Members {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(v.Members[a].Name, v.Members[b].Name) })
	to = append(to, '{')
	written := 0
	for i, at := range order {
		m := &v.Members[at]
		if i+1 < len(order) && v.Members[order[i+1]].Name == m.Name {
			continue
		}
		to = append(appendText(separate(to, written), m.Name), ':')
		to = m.AppendCanonical(to)
		written++
	}
	return append(to, '}')
}

// separate writes the comma before every element but the first.
func separate(to []byte, i int) []byte {
	if i > 0 {
		return append(to, ',')
	}
	return to
}

// appendNumber writes a whole number of up to 15 digits as it is, and any other in the shortest form that is the same
// float64.
func appendNumber(to []byte, raw string) []byte {
	if len(raw) <= 15 && strings.Trim(raw, "0123456789") == "" {
		return append(to, raw...)
	}
	n, err := strconv.ParseFloat(raw, 64)
	switch {
	case err != nil: // too large for a float64
		return append(to, raw...)
	case n == 0:
		return append(to, '0')
	default:
		return strconv.AppendFloat(to, n, 'g', -1, 64)
	}
}

// appendText writes a text in quotes, with the escapes that JSON asks for (RFC 8259, section 7).
func appendText[T string | []byte](to []byte, text T) []byte {
	to = append(to, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[start:i]...)
		if c < ' ' {
			to = append(to, '\\', 'u', '0', '0', "01"[c>>4], "0123456789abcdef"[c&15])
		} else {
			to = append(to, '\\', c)
		}
		start = i + 1
	}
	return append(append(to, text[start:]...), '"')
}
