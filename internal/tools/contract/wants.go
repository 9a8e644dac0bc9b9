package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wants collects facts that the generated decoders lack: a description of the expected value of each body member and parameter, the body
// members for which null means absent, the members without effect, and the aliases. A key is an operation's id, a space, and one of: the
// path of a body member, with [] for the items of a list; the name of a parameter after a question mark; or Content-Type.
type wants struct {
	document  *yaml.Node
	texts     map[string]string
	takesNull map[string]bool   // whether one of the member's schemas accepts null
	noEffect  map[string]string // Go literals of the values of x-no-effect
	aliases   map[string]string // name of the member for which the key is an alias
	refs      []string          // references of the schemas that contain the current one
	fault     error
}

func (w *wants) operation(operation *yaml.Node) {
	id := member(operation, "operationId").Value
	for _, p := range sequence(member(operation, "parameters")) {
		p, _ = w.resolve(p)
		key, schema := id+" ?"+member(p, "name").Value, member(p, "schema")
		w.texts[key] = w.text(schema)
		schema, _ = w.resolve(schema)
		w.add(key+"[]", w.text(member(schema, "items")))
	}
	body, _ := w.resolve(member(operation, "requestBody"))
	var types []string
	members(member(body, "content"), func(contentType string, media *yaml.Node) {
		types = append(types, contentType)
		w.collect(id+" ", member(media, "schema"))
	})
	if len(types) > 0 {
		w.texts[id+" Content-Type"] = strings.Join(types, " or ")
	}
}

// resolve returns the component that a node references and the reference, or the node itself if it is no reference.
func (w *wants) resolve(node *yaml.Node) (resolved *yaml.Node, ref string) {
	ref = value(node, "$ref")
	if ref == "" {
		return node, ""
	}
	resolved = w.document
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		resolved = member(resolved, name)
	}
	return resolved, ref
}

// collect adds the facts about a schema and the schemas within it. If a schema contains itself, collect does not enter the inner
// occurrence.
func (w *wants) collect(key string, schema *yaml.Node) {
	schema, ref := w.resolve(schema)
	w.add(key, w.text(schema))
	if schema == nil || ref != "" && slices.Contains(w.refs, ref) {
		return
	}
	if ref != "" {
		w.refs = append(w.refs, ref)
		defer func() { w.refs = w.refs[:len(w.refs)-1] }()
	}
	for _, kind := range []string{"oneOf", "anyOf", "allOf"} {
		for _, alternative := range sequence(member(schema, kind)) {
			if alternative, _ = w.resolve(alternative); member(alternative, "properties") != nil || member(alternative, "items") != nil {
				w.collect(key, alternative)
			}
		}
	}
	members(member(schema, "properties"), func(name string, property *yaml.Node) {
		if !strings.HasSuffix(key, " ") {
			name = "." + name
		}
		w.takesNull[key+name] = w.takesNull[key+name] || w.hasNull(property)
		if of := value(property, aliasOf); of != "" {
			w.aliases[key+name] = of
			if member(member(schema, "properties"), of) == nil {
				w.fault = errors.Join(w.fault, fmt.Errorf("%s: %s names no member beside it", key+name, aliasOf))
			}
			if slices.ContainsFunc(sequence(member(schema, "required")), func(required *yaml.Node) bool { return required.Value == of }) {
				w.fault = errors.Join(w.fault, fmt.Errorf("%s: %s names a required member, so it could not stand alone", key+name, aliasOf))
			}
		}
		if effect := member(property, noEffect); effect != nil {
			w.addNoEffect(key+name, effect)
			return // a member without effect has no texts for its own members
		}
		w.collect(key+name, property)
	})
	if items := member(schema, "items"); items != nil {
		w.collect(key+"[]", items)
	}
}

// noEffect marks a member that the server accepts without acting on it. Its value lists the values that request nothing, whether other
// values are refused or ignored, and the reason.
const noEffect = "x-no-effect"

// aliasOf marks a member that is an alias of another member of the same schema. The server renames it in bodies.
const aliasOf = "x-alias-of"

// addNoEffect validates a member's x-no-effect and stores it as a Go literal.
func (w *wants) addNoEffect(key string, effect *yaml.Node) {
	var e struct {
		Nothing   []any  `yaml:"nothing"`
		Otherwise string `yaml:"otherwise"`
		Reason    string `yaml:"reason"`
	}
	err := effect.Decode(&e)
	if err == nil && (e.Otherwise != "ignored" && e.Otherwise != "refused" || e.Reason == "") {
		err = fmt.Errorf("%s needs a reason, and otherwise: ignored or refused", noEffect)
	}
	values := make([]string, len(e.Nothing))
	for i, value := range e.Nothing {
		text, fault := json.Marshal(value)
		values[i], err = string(text), errors.Join(err, fault)
	}
	if err != nil {
		w.fault = errors.Join(w.fault, fmt.Errorf("%s: %w", key, err))
	}
	w.noEffect[key] = fmt.Sprintf("{Nothing: %#v, Refused: %t, Reason: %q}", values, e.Otherwise == "refused", e.Reason)
}

// hasNull reports whether a schema accepts null.
func (w *wants) hasNull(schema *yaml.Node) bool {
	schema, _ = w.resolve(schema)
	of := func(kind string) []*yaml.Node { return sequence(member(schema, kind)) }
	switch types := member(schema, "type"); {
	case types != nil && types.Kind == yaml.SequenceNode:
		return slices.ContainsFunc(types.Content, func(t *yaml.Node) bool { return t.Value == "null" })
	case types != nil:
		return types.Value == "null"
	case member(schema, "const") != nil:
		return member(schema, "const").Tag == "!!null"
	case of("enum") != nil:
		return slices.ContainsFunc(of("enum"), func(v *yaml.Node) bool { return v.Tag == "!!null" })
	case of("allOf") != nil:
		return !slices.ContainsFunc(of("allOf"), func(s *yaml.Node) bool { return !w.hasNull(s) })
	}
	if alternatives := append(of("oneOf"), of("anyOf")...); len(alternatives) > 0 {
		return slices.ContainsFunc(alternatives, w.hasNull)
	}
	return true // the schema accepts any value
}

// add adds a text to the expected values of a member, separated by "or". Several alternatives of a schema may contain the member.
func (w *wants) add(key, text string) {
	known := w.texts[key]
	switch {
	case text == "" || known == text || slices.Contains(strings.Split(known, " or "), text):
	case known == "":
		w.texts[key] = text
	default:
		w.texts[key] = known + " or " + text
	}
}

// text describes the values of a schema in words. It returns "" if the schema accepts any value.
func (w *wants) text(schema *yaml.Node) string {
	schema, _ = w.resolve(schema)
	if schema == nil {
		return ""
	}
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, kind := range []string{"oneOf", "anyOf"} {
		for _, alternative := range sequence(member(schema, kind)) {
			add(w.text(alternative))
		}
	}
	if all := sequence(member(schema, "allOf")); len(all) == 1 { // a reference with its own description
		add(w.text(all[0]))
	}
	types := member(schema, "type")
	switch {
	case value(schema, "const") != "":
		add(value(schema, "const"))
	case member(schema, "enum") != nil:
		var values []string
		for _, v := range sequence(member(schema, "enum")) {
			values = append(values, v.Value)
		}
		add(listed(values))
	case types != nil && types.Kind == yaml.SequenceNode:
		for _, t := range types.Content {
			add(ofType(schema, t.Value))
		}
	case types != nil:
		add(ofType(schema, types.Value))
	}
	return strings.Join(texts, " or ")
}

// listed returns a text that offers a choice of values, or the value itself if there is only one.
func listed(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "one of " + strings.Join(values, ", ")
}

func ofType(schema *yaml.Node, name string) string {
	switch name {
	case "null":
		return "null"
	case "boolean":
		return "true or false"
	case "object":
		return "an object"
	case "array":
		return "a list" + within(schema, "minItems", "maxItems", " items")
	case "integer":
		return "a whole number" + of(schema) + within(schema, "minimum", "maximum", "")
	case "number":
		return "a number" + of(schema) + within(schema, "minimum", "maximum", "")
	}
	if value(schema, "pattern") == "^https?://" {
		return "a URL that begins with http:// or https://"
	}
	switch value(schema, "format") {
	case "date-time":
		return "a date-time such as 2026-03-02T09:15:00Z"
	case "date":
		return "a date such as 2026-03-02"
	case "uri":
		return "a URL"
	case "email":
		return "an email address"
	case "binary":
		return "a file"
	}
	return "a text" + within(schema, "minLength", "maxLength", " characters")
}

// of returns the unit of a number (x-unit in the contract) as a text such as " of seconds", or "".
func of(schema *yaml.Node) string {
	if unit := value(schema, "x-unit"); unit != "" {
		return " of " + unit
	}
	return ""
}

func within(schema *yaml.Node, least, most, unit string) string {
	from, to := value(schema, least), value(schema, most)
	if unit != "" && from == "0" {
		from = ""
	}
	switch {
	case from != "" && unit != "" && to != "":
		return fmt.Sprintf(" of %s to %s%s", from, to, unit)
	case from != "" && to != "":
		return fmt.Sprintf(" from %s to %s", from, to)
	case to != "":
		return fmt.Sprintf(" of at most %s%s", to, unit)
	case from != "":
		return fmt.Sprintf(" of at least %s%s", from, unit)
	}
	return ""
}

// value returns the text of a mapping's member, or "" if there is none.
func value(mapping *yaml.Node, name string) string {
	if node := member(mapping, name); node != nil {
		return node.Value
	}
	return ""
}
