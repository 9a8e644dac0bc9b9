package suite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/suite"
)

const faulty = `# What the shop promises.
scenarios:
  - name: A
    tester_persona_prompt: p
    assertions:
      - type: NODE_REACHED
        config: {node_id: paid}
      - {type: REGEX_MATCH, config: {pattern: '('}}
  - name: B
    max_turns: 900
    webhook_mocks:
      - {url: "https://shop.example/*", status: none}
      - {url: "https://shop.example/*", state: 200}
  - {name: C, persona: x}
`

// TestFaultsNameTheirPlace checks that each error begins with the file and with the line and column of the value, or of its innermost
// existing parent.
func TestFaultsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		faulty: {
			"f.yaml:8:47: scenarios[0].assertions[1].config.pattern: ",
			"f.yaml:12:49: scenarios[1].webhook_mocks[0].status: must be an integer",
			`f.yaml:13:48: scenarios[1].webhook_mocks[1].state: unknown field "state"`,
			`f.yaml:14:24: scenarios[2].persona: unknown field "persona"`,
		},
		"- name: é\n  max_turns: 900\n  tester_persona_prompt: p":  {"f.yaml:2:14: [0].max_turns: "},
		"{\n \"é\": 1, \"name\": [\n5]}":                           {`f.yaml:2:7: é: unknown field "é"`},
		"[{\"name\": \"A\",\n\"max_turns\" : \"\\ud83d\\ude00\"}]": {"f.yaml:2:15: [0].max_turns: must be an integer"},
		"name: A\nassertions: [{type: REGEX_MATCH, weight: x}]":    {"f.yaml:2:42: assertions[0].weight: must be a number"},
		"name: A\nmax_turns: 3\nname: B":                           {"f.yaml:3:1: name: is given twice"},
		"{\"a\": 1,\n\"b\": {\"c\": 1, \"c\": 2}}":                 {"f.yaml:2:15: c: is given twice"},
		"name: A\n1: B":                    {"f.yaml:2:1: must be a string, because it names a member"},
		"name: A\nrequest_data: {x: .nan}": {"f.yaml:2:19: must be a finite number"},
		"name: A\nrequest_data: [\n":       {"f.yaml:2: invalid YAML: "},
		"name: A\n<<: 5":                   {"f.yaml:2:5: the value that << merges must be an object"},
	} {
		_, err := suite.Load(fstest.MapFS{"f.yaml": {Data: []byte(text)}}, "f.yaml")
		if err == nil {
			t.Errorf("%q was read", text)
			continue
		}
		for _, one := range want {
			if !strings.Contains("\n"+err.Error(), "\n"+one) {
				t.Errorf("%q gave\n%v\nwant %s", text, err, one)
			}
		}
	}
	_, err := suite.Parse([]byte(faulty))
	if list, ok := errors.AsType[callwright.FieldErrors](err); !ok || len(list) != 4 || list[1].Field != "scenarios[1].webhook_mocks[0].status" {
		t.Errorf("the errors of Parse are %v", err)
	}
}

// TestAnchors checks anchors, aliases and merged objects, in which an object's own members take precedence.
func TestAnchors(t *testing.T) {
	t.Parallel()
	all, err := suite.Parse([]byte(`
- &first
  name: A
  tester_persona_prompt: &prompt You are in a hurry.
  max_turns: 7
- {name: B, tester_persona_prompt: *prompt}
- <<: *first
  name: C
- <<: [{max_turns: 9}, *first]
  name: D
`))
	if err != nil || len(all) != 4 {
		t.Fatalf("got %+v, %v", all, err)
	}
	for i, turns := range []int{7, 20, 7, 9} {
		if s := all[i]; s.Name != string("ABCD"[i]) || s.MaxTurns != turns || s.CallerPrompt != "You are in a hurry." {
			t.Errorf("got %s with %d turns and the prompt %q", s.Name, s.MaxTurns, s.CallerPrompt)
		}
	}
}

// TestBounds checks that Parse refuses a small file whose aliases expand to gigabytes, and an endlessly nested file.
func TestBounds(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	fmt.Fprintf(&bomb, "name: A\na0: &a0 %s\n", strings.Repeat("x", 100))
	for i := range 20 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for text, want := range map[string]string{
		bomb.String():                       "with its aliases written out",
		"name: A\nrequest_data: &r {x: *r}": "nested lists and objects",
		"x: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000):         "nested lists and objects",
		`{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}": "1:106: must have at most 100 nested lists and objects",
	} {
		if _, err := suite.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q gave %v, want %q", text, err, want)
		}
	}
}

// TestDatesAreTexts checks that texts that YAML could read as timestamps remain texts.
func TestDatesAreTexts(t *testing.T) {
	t.Parallel()
	list, err := suite.Parse([]byte("name: 2001-01-01\ntester_persona_prompt: p\nrequest_data: {at: 2001-12-14t21:59:43.10-05:00}"))
	if err != nil || list[0].Name != "2001-01-01" || list[0].RequestData["at"] != "2001-12-14t21:59:43.10-05:00" {
		t.Errorf("%+v, %v", list, err)
	}
}
