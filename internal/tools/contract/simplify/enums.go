package simplify

import (
	"regexp"
)

// These patterns match lists of cases with the same result for every value of an enumeration.
var (
	casesValid  = regexp.MustCompile(`(?s)^(case ("[^"]*"|-?\d+):\s+return nil\s*)+$`)
	casesText   = regexp.MustCompile(`(?s)^(case \w+:\s+return \[\]byte\(s\), nil\s*)+$`)
	casesOfText = regexp.MustCompile(`(?s)^(case (\w+):\s+\*s = \w+\s+return nil\s*)+$`)
	casesDecode = regexp.MustCompile(`(?s)^(case (\w+):\s+\*s = \w+\s*)+$`)
)

func cases(pattern *regexp.Regexp) func(map[string]string) bool {
	return func(texts map[string]string) bool { return pattern.MatchString(texts["S_cases"]) }
}

// enumRules replace switches over all values of an enumeration by functions that search the list of all values.
var enumRules = []rule{
	{
		name:   "whether a value is known",
		before: `func (s E_T) Validate() error { switch s { case S_cases: default: return errors.Errorf("invalid value: %v", s) } }`,
		after:  `func (s E_T) Validate() error { return codec.Enum(s, s.AllValues()) }`,
		where:  cases(casesValid),
	},
	{
		name:   "the text of a value",
		before: `func (s E_T) MarshalText() ([]byte, error) { switch s { case S_cases: default: return nil, errors.Errorf("invalid value: %q", s) } }`,
		after:  `func (s E_T) MarshalText() ([]byte, error) { return codec.EnumText(s, s.AllValues()) }`,
		where:  cases(casesText),
	},
	{
		name: "a value of a text",
		before: `func (s *E_T) UnmarshalText(data []byte) error {
			switch E_T(data) { case S_cases: default: return errors.Errorf("invalid value: %q", data) } }`,
		after: `func (s *E_T) UnmarshalText(data []byte) error { return codec.EnumOf(data, s, s.AllValues()) }`,
		where: cases(casesOfText),
	},
	{
		name: "a value of JSON",
		before: `func (s *E_T) Decode(d *jx.Decoder) error {
			if s == nil { return errors.New(E_nil) }
			v, err := d.StrBytes()
			if err != nil { return err }
			switch E_T(v) { case S_cases: default: *s = E_T(v) }
			return nil }`,
		after: "func (s *E_T) Decode(d *jx.Decoder) error {\nif s == nil {\nreturn codec.Nil(\"E_T\")\n}\nreturn codec.DecodeEnum(d, s, s.AllValues())\n}",
		where: cases(casesDecode),
	},
}
