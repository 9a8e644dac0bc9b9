package template

// Values fills the same variables into many texts, for example all texts of one turn. It bounds the number of bytes that values add to all
// texts together, and encodes an object or a list only once. It is not safe for concurrent use.
type Values struct {
	variables map[string]any
	left      int
	encoded   int
	texts     map[string]string // JSON of objects and lists, by variable name
}

// maxEncoded bounds the JSON of objects and lists that a Values encodes, in bytes. Beyond it, further objects and lists are rendered as
// empty texts.
const maxEncoded = 8 << 20

// NewValues returns a Values whose variables add at most the given number of bytes to all texts together.
func NewValues(variables map[string]any, most int) *Values {
	return &Values{variables: variables, left: most}
}

// Set replaces the variables. Bytes that were already added still count toward the limit.
func (v *Values) Set(variables map[string]any) { v.variables, v.texts = variables, nil }

// Left returns the number of bytes that can still be added.
func (v *Values) Left() int { return v.left }

// Render renders a text like Template.Render, but limits the values to the given number of bytes, to MaxValues and to the remaining bytes
// of v.
func (v *Values) Render(t *Template, most int) string {
	text, added := t.fill(v.variables, min(most, MaxValues, v.left), v.spoken)
	v.left -= added
	return text
}

// Add returns the beginning of a text, up to MaxValues bytes and up to the remaining bytes, and counts its bytes. The caller appends it to
// another text.
func (v *Values) Add(text string) string {
	text = clip(text, min(MaxValues, v.left))
	v.left -= len(text)
	return text
}

// LookUp returns the value of one of v's variables, like the function LookUp.
func (v *Values) LookUp(name string) (value any, known bool) { return LookUp(name, v.variables) }

// Missing returns the names in t that have no value in v, like Template.Missing.
func (v *Values) Missing(t *Template) []string { return t.Missing(v.variables) }

// Text returns the text of a variable, or "" for an unknown one. It does not count the bytes: see Add.
func (v *Values) Text(name string) string {
	value, _ := v.LookUp(name)
	return v.spoken("", name, value)
}

// spoken returns the text of a value. The JSON of an object or a list is truncated to MaxValues bytes, and is empty beyond maxEncoded.
func (v *Values) spoken(_, name string, value any) string {
	switch value.(type) {
	case map[string]any, []any:
	default:
		return Spoken(value)
	}
	text, known := v.texts[name]
	if known || v.encoded >= maxEncoded {
		return text
	}
	text = Spoken(value)
	v.encoded += len(text)
	text = clip(text, MaxValues)
	if v.texts == nil {
		v.texts = map[string]string{}
	}
	v.texts[name] = text
	return text
}
