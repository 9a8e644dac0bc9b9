package template

// Values fills the same variables into many texts, for example of one turn of a conversation. It bounds the bytes that they add to
// all texts together, and encodes an object or a list only once. It is not safe for concurrent use.
type Values struct {
	variables map[string]any
	left      int
	encoded   int
	texts     map[string]string // of objects and lists, by name
}

// maxEncoded bounds the JSON of objects and lists that a Values encodes, in bytes. Further ones are empty.
const maxEncoded = 8 << 20

// NewValues returns variables that add most bytes or fewer to texts.
func NewValues(variables map[string]any, most int) *Values {
	return &Values{variables: variables, left: most}
}

// Set replaces the variables. The bytes added so far still count.
func (v *Values) Set(variables map[string]any) { v.variables, v.texts = variables, nil }

// Left returns the number of bytes that can still be added.
func (v *Values) Left() int { return v.left }

// Render is like Template.Render, with up to most bytes of variables.
func (v *Values) Render(t *Template, most int) string {
	text, added := t.fill(v.variables, min(most, MaxValues, v.left), v.spoken)
	v.left -= added
	return text
}

// Add returns the beginning of a text that is added to another one, up to the remaining bytes.
func (v *Values) Add(text string) string {
	text = clip(text, min(MaxValues, v.left))
	v.left -= len(text)
	return text
}

// LookUp is like the function LookUp.
func (v *Values) LookUp(name string) (value any, known bool) { return LookUp(name, v.variables) }

// Missing is like Template.Missing.
func (v *Values) Missing(t *Template) []string { return t.Missing(v.variables) }

// Text returns a variable as text, which is empty for an unknown one. Its bytes count only when it is added to a text.
func (v *Values) Text(name string) string {
	value, _ := v.LookUp(name)
	return v.spoken("", name, value)
}

// spoken returns the text of a value. The JSON of an object or a list is cut off at MaxValues.
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
