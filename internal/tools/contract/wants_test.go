package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

const pets = `
paths:
  /pets:
    post:
      operationId: addPet
      parameters:
        - {$ref: '#/components/parameters/Limit'}
        - {name: since, in: query, schema: {type: string, format: date-time}}
        - {name: kinds, in: query, schema: {type: array, maxItems: 2, items: {$ref: '#/components/schemas/Kind'}}}
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Pet'}
components:
  parameters:
    Limit: {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 9}}
  schemas:
    Kind: {type: string, enum: [cat, dog]}
    Pet:
      type: object
      properties:
        name: {type: string, minLength: 1, maxLength: 20}
        note: {type: [string, 'null'], maxLength: 20}
        kind: {allOf: [{$ref: '#/components/schemas/Kind'}]}
        age: {type: number, minimum: 0, x-unit: years}
        tame: {type: boolean}
        parents: {type: array, maxItems: 2, items: {$ref: '#/components/schemas/Pet'}}
        colours: {type: array, items: {type: object, properties: {name: {type: string}}}}
        any: {}
        called: {type: string, maxLength: 20, x-alias-of: name}
        leash: {type: boolean, x-no-effect: {nothing: [false], otherwise: ignored, reason: nobody holds it}}
        chip:
          type: array
          items: {type: string}
          x-no-effect: {nothing: [[], none], otherwise: refused, reason: it would be lost}
        food:
          oneOf:
            - {type: object, properties: {type: {type: string, const: fish}}}
            - {type: object, properties: {type: {type: string, const: meat}}}
            - {type: 'null'}
`

func TestWantsSayWhatMembersAre(t *testing.T) {
	t.Parallel()
	file, err := AreaFile([]byte(pets), "petsoas")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	for key, want := range map[string]string{
		"addPet ":               "an object",
		"addPet ?limit":         "a whole number from 1 to 9",
		"addPet ?since":         "a date-time such as 2026-03-02T09:15:00Z",
		"addPet ?kinds":         "a list of at most 2 items",
		"addPet ?kinds[]":       "one of cat, dog",
		"addPet Content-Type":   "application/json",
		"addPet name":           "a text of 1 to 20 characters",
		"addPet note":           "a text of at most 20 characters or null",
		"addPet kind":           "one of cat, dog",
		"addPet age":            "a number of years of at least 0",
		"addPet tame":           "true or false",
		"addPet parents":        "a list of at most 2 items",
		"addPet parents[]":      "an object",
		"addPet colours[]":      "an object",
		"addPet colours[].name": "a text",
		"addPet food":           "an object or null",
		"addPet food.type":      "fish or meat",
	} {
		found := false
		for line := range strings.Lines(text) {
			name, rest, ok := strings.Cut(strings.TrimSpace(line), `": `)
			found = found || ok && name == `"`+key && strings.TrimSpace(rest) == `"`+want+`",`
		}
		if !found {
			t.Errorf("%q is not %q in\n%s", key, want, text)
		}
	}
	for _, line := range []string{
		`"addPet name": true,`, `"addPet kind": true,`, `"addPet food.type": true,`, `"addPet leash": true,`,
		`"addPet called": "name",`,
		`"addPet leash": {Nothing: []string{"false"}, Refused: false, Reason: "nobody holds it"},`,
		`"addPet chip": {Nothing: []string{"[]", "\"none\""}, Refused: true, Reason: "it would be lost"},`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), line) {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
	if regexp.MustCompile(`"addPet (note|any|food)": +true`).MatchString(text) {
		t.Errorf("null is absent where it is a value:\n%s", text)
	}
	if strings.Contains(text, `"addPet any": "`) || strings.Contains(text, "parents[].name") || !strings.HasPrefix(text, "// Code generated ") {
		t.Errorf("the file is\n%s", text)
	}
}

// TestAliasesCanStandAlone checks that an alias of a required member is an error.
func TestAliasesCanStandAlone(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"type: object\n      required: [name]": "addPet called: x-alias-of names a required member",
		"type: object\n      required: [age]":  "",
	} {
		_, err := AreaFile([]byte(strings.Replace(pets, "Pet:\n      type: object", "Pet:\n      "+schema, 1)), "petsoas")
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}
