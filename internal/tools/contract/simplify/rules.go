package simplify

import (
	"regexp"
	"slices"
	"strings"
)

// rules lists all rules in the order in which they are tried at each statement.
var rules = compiledAll(slices.Concat(checkRules, decodeRules, encodeRules, enumRules, parameterRules, serverRules, clientRules, bodyRules, closureRules, failureRules))

func compiledAll(list []rule) []rule {
	for i := range list {
		list[i] = *compiled(list[i])
	}
	return list
}

// closureRules unwrap the closures that ogen writes around each step, and simplify the early return of a last error.
var closureRules = []rule{
	{
		name:   "a closure that only returns",
		before: `if err := func() error { return E_x }(); err != nil { S_h }`,
		after:  "if err := E_x; err != nil {\nS_h\n}",
	},
	{
		name:   "a closure around one optional value",
		before: `if err := func() error { if value, ok := E_get; ok { return E_x }; return nil }(); err != nil { S_h }`,
		after:  "if value, ok := E_get; ok {\nif err := E_x; err != nil {\nS_h\n}\n}",
	},
	{
		name:   "the last error",
		before: `if err := E_x; err != nil { return err }; return nil`,
		after:  `return E_x`,
	},
	{
		name:   "the last error, if there is a value",
		before: `if value, ok := E_get; ok { if err := E_x; err != nil { return err } }; return nil`,
		after:  "if value, ok := E_get; ok {\nreturn E_x\n}\nreturn nil",
	},
	{
		name:   "the last error, wrapped",
		before: `if err := E_x; err != nil { return errors.Wrap(err, E_text) }; return nil`,
		after:  `return codec.Wrap(E_x, E_text)`,
	},
}

// checkRules replace each validation by one line.
var checkRules = []rule{
	{name: "text with a length", before: check("E_lit.Validate(string(E_v))", "string"), after: checked("codec.Length(string(E_v), E_min, E_max)"), where: lengths},
	{name: "text", before: check("E_lit.Validate(string(E_v))", "string"), after: checked("codec.String(string(E_v), E_lit)"), where: unwrap},
	{name: "integer", before: check("E_lit.Validate(int64(E_v))", "int"), after: checked("codec.Int(int64(E_v), E_lit)"), where: unwrap},
	{name: "number", before: check("E_lit.Validate(float64(E_v))", "float"), after: checked("codec.Float(float64(E_v), E_lit)"), where: unwrap},
	{name: "list", before: check("E_lit.ValidateLength(len(E_v))", "array"), after: checked("codec.Size(len(E_v), E_min, E_max)"), where: lengths},
}

// failureRules replace the code that collects the errors of members and items.
var failureRules = []rule{
	{
		name:   "failures",
		before: `var failures []validate.FieldError`,
		after:  `var failures codec.Failures`,
	},
	{
		name:   "the failures' error",
		before: `if len(failures) > 0 { return &validate.Error{Fields: failures} }; return nil`,
		after:  `return failures.Err()`,
	},
	{
		name:   "the failure of an item",
		before: `if err := E_x; err != nil { failures = append(failures, validate.FieldError{Name: fmt.Sprintf("[%d]", i), Error: err}) }`,
		after:  `failures.AddItem(i, E_x)`,
	},
	{
		name:   "the failure of a member",
		before: `if err := E_x; err != nil { failures = append(failures, validate.FieldError{Name: E_name, Error: err}) }`,
		after:  `failures.Add(E_name, E_x)`,
	},
	{
		name:   "nil alone",
		before: `if E_x == nil { return errors.New("nil is invalid value") }; return nil`,
		after:  `return codec.NotNil(E_x == nil)`,
	},
}

func check(call, text string) string {
	return "if err := " + call + "; err != nil { return errors.Wrap(err, \"" + text + "\") }"
}

func checked(call string) string {
	return "if err := " + call + "; err != nil {\nreturn err\n}"
}

// length matches the minimum or maximum length in a literal.
var length = regexp.MustCompile(`(Min|Max)Length: (\d+)`)

// lengths extracts the minimum and maximum length from a literal as E_min and E_max. It returns false if the literal contains other limits.
func lengths(texts map[string]string) bool {
	unwrap(texts)
	texts["E_min"], texts["E_max"] = "0", "-1"
	if strings.Contains(texts["E_lit"], "MaxLengthSet: true") {
		texts["E_max"] = "0"
	}
	_, fields, _ := strings.Cut(strings.TrimSuffix(texts["E_lit"], "}"), "{")
	for field := range strings.SplitSeq(fields, ", ") {
		switch limit := length.FindStringSubmatch(field); {
		case limit != nil && limit[1] == "Min":
			texts["E_min"] = limit[2]
		case limit != nil:
			texts["E_max"] = limit[2]
		case field != "MinLengthSet: true" && field != "MaxLengthSet: true":
			return false
		}
	}
	return true
}

// unwrap removes the parentheses around the literal E_lit.
func unwrap(texts map[string]string) bool {
	texts["E_lit"] = strings.TrimSuffix(strings.TrimPrefix(texts["E_lit"], "("), ")")
	return true
}

// decodeRules replace the code that decodes a value by one line.
var decodeRules = []rule{
	{
		name:   "a string",
		before: `v, err := d.Str(); E_to = string(v); if err != nil { return err }; return nil`,
		after:  `return codec.DecodeStr(d, &E_to)`,
	},
	{
		name:   "a string of an optional value",
		before: `v, err := d.Str(); if err != nil { return err }; E_to = string(v); return nil`,
		after:  `return codec.DecodeStr(d, &E_to)`,
	},
	{
		name:   "an integer",
		before: `v, err := d.Int(); E_to = int(v); if err != nil { return err }; return nil`,
		after:  `return codec.DecodeInt(d, &E_to)`,
	},
	{
		name:   "an integer of an optional value",
		before: `v, err := d.Int(); if err != nil { return err }; E_to = int(v); return nil`,
		after:  `return codec.DecodeInt(d, &E_to)`,
	},
	{
		name:   "a truth value",
		before: `v, err := d.Bool(); E_to = bool(v); if err != nil { return err }; return nil`,
		after:  `return codec.DecodeBool(d, &E_to)`,
	},
	{
		name:   "a truth value of an optional value",
		before: `v, err := d.Bool(); if err != nil { return err }; E_to = bool(v); return nil`,
		after:  `return codec.DecodeBool(d, &E_to)`,
	},
	{
		name:   "a number",
		before: `v, err := d.Float64(); E_to = float64(v); if err != nil { return err }; return nil`,
		after:  `return codec.DecodeFloat(d, &E_to)`,
	},
	{
		name:   "a number of an optional value",
		before: `v, err := d.Float64(); if err != nil { return err }; E_to = float64(v); return nil`,
		after:  `return codec.DecodeFloat(d, &E_to)`,
	},
	{
		name:   "a time",
		before: `v, err := json.DecodeTimeFormat(d, E_layout); E_to = v; if err != nil { return err }; return nil`,
		after:  `return codec.DecodeTime(d, &E_to, E_layout)`,
	},
	{
		name:   "any value",
		before: `v, err := d.RawAppend(nil); E_to = jx.Raw(v); if err != nil { return err }; return nil`,
		after:  `return codec.DecodeRaw(d, &E_to)`,
	},
	{
		name: "a list",
		before: `E_to = make([]E_T, 0)
			if err := d.Arr(func(d *jx.Decoder) error {
				var elem E_T
				if err := elem.Decode(d); err != nil { return err }
				E_to = append(E_to, elem)
				return nil
			}); err != nil { return err }`,
		after: "if err := codec.DecodeArr(d, &E_to, (*E_T).Decode); err != nil {\nreturn err\n}",
	},
	{
		name: "a list of strings",
		before: `E_to = make([]E_T, 0)
			if err := d.Arr(func(d *jx.Decoder) error {
				var elem E_T
				v, err := d.Str()
				elem = string(v)
				if err != nil { return err }
				E_to = append(E_to, elem)
				return nil
			}); err != nil { return err }`,
		after: "if err := codec.DecodeStrs(d, &E_to); err != nil {\nreturn err\n}",
	},
}

// encodeRules remove the blocks around the code that encodes a member.
var encodeRules = []rule{
	{name: "an optional member's block", before: `{ if E_set { S_x } }`, after: "if E_set {\nS_x\n}"},
	{name: "a member's block", before: `{ e.FieldStart(E_name); E_call }`, after: "e.FieldStart(E_name)\nE_call"},
	{
		name:   "the JSON of a type",
		before: `func (s E_T) MarshalJSON() ([]byte, error) { e := jx.Encoder{}; s.Encode(&e); return e.Bytes(), nil }`,
		after:  `func (s E_T) MarshalJSON() ([]byte, error) { return codec.Marshal(s) }`,
	},
	{
		name:   "a type from JSON",
		before: `func (s E_T) UnmarshalJSON(data []byte) error { d := jx.DecodeBytes(data); return s.Decode(d) }`,
		after:  `func (s E_T) UnmarshalJSON(data []byte) error { return s.Decode(jx.DecodeBytes(data)) }`,
	},
}
