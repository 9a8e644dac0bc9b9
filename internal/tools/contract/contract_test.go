package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestBundleIsCommitted checks that the served document equals the bundle of the parts.
func TestBundleIsCommitted(t *testing.T) {
	t.Parallel()
	bundle, err := Bundle(os.DirFS("../../../contract"))
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bundle, committed) {
		t.Error("openapi.yaml is not what the parts in contract give; run make generate")
	}
}

const shared = `# About the part.
openapi: 3.1.0
tags:
  - name: Calls
  - name: AgentTesting
components:
  securitySchemes:
    ApiKey: {type: apiKey}
  responses:
    Error: {description: failed}
    Absent:
      description: gone
  schemas:
    Both: {type: string}
`

const calls = `# About calls.
paths:
  /calls:
    get:
      tags: [Calls]
      responses:
        '200': {content: {application/json: {schema: {$ref: '#/components/schemas/Call'}}}}
        '404': {$ref: '#/components/responses/Absent'}
        default: {$ref: '#/components/responses/Error'}
components:
  schemas:
    # A comment that stays.
    Call:
      properties: {a: {$ref: '#/components/schemas/Both'}}
`

const agentTesting = `paths:
  /tests:
    get:
      tags: [AgentTesting]
      responses:
        '200': {content: {application/json: {schema: {$ref: '#/components/schemas/Both'}}}}
        '404': {$ref: '#/components/responses/Absent'}
        default: {$ref: '#/components/responses/Error'}
`

const bundled = notice + `openapi: 3.1.0
tags:
  - name: Calls
  - name: AgentTesting
paths:
  /calls:
    get:
      tags: [Calls]
      responses:
        '200': {content: {application/json: {schema: {$ref: '#/components/schemas/Call'}}}}
        '404': {$ref: '#/components/responses/Absent'}
        default: {$ref: '#/components/responses/Error'}
  /tests:
    get:
      tags: [AgentTesting]
      responses:
        '200': {content: {application/json: {schema: {$ref: '#/components/schemas/Both'}}}}
        '404': {$ref: '#/components/responses/Absent'}
        default: {$ref: '#/components/responses/Error'}
components:
  securitySchemes:
    ApiKey: {type: apiKey}
  responses:
    Error: {description: failed}
    Absent:
      description: gone
  schemas:
    Both: {type: string}
    # A comment that stays.
    Call:
      properties: {a: {$ref: '#/components/schemas/Both'}}
`

// parts returns the files of a small contract. In each file, the text old is replaced.
func parts(old, replacement string) fstest.MapFS {
	folder := fstest.MapFS{}
	for file, text := range map[string]string{"shared.yaml": shared, "calls.yaml": calls, "agent-testing.yaml": agentTesting} {
		folder[file] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, old, replacement))}
	}
	return folder
}

func TestBundleKeepsTheText(t *testing.T) {
	t.Parallel()
	text, err := Bundle(parts("", ""))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != bundled {
		t.Errorf("the bundle is\n%s", text)
	}
}

func TestBundleRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, replacement, want string }{
		"an operation in the part of another area": {"[Calls]", "[AgentTesting]", "calls.yaml: get /calls has the tag \"AgentTesting\" and belongs in agent-testing.yaml"},
		"an operation without a tag":               {"tags: [Calls]", "deprecated: true", "has the tag \"\""},
		"a reference to nothing":                   {"schemas/Call'", "schemas/Cell'", "calls.yaml: #/components/schemas/Cell does not exist"},
		"a component that one area uses":           {"schemas/Both", "schemas/Call", "shared.yaml: nothing uses schemas/Both"},
		"a component twice":                        {"    Call:", "    Both:", "the bundle: "},
		"a section that an area may not have":      {"# About calls.\n", "info: {}\n", "calls.yaml: the section info is not allowed"},
		"a kind of component that is not known":    {"  schemas:\n    # A", "  headers:\n    # A", "calls.yaml: components of the kind headers are not allowed"},
		"an area without a part":                   {"- name: AgentTesting", "- name: Speech", "speech.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Bundle(parts(c.old, c.replacement))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestBundleRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	folder := parts("", "")
	folder["speech.yaml"] = &fstest.MapFile{Data: []byte("paths: {}\n")}
	if _, err := Bundle(folder); err == nil || !strings.Contains(err.Error(), "speech.yaml: no tag in shared.yaml names this area") {
		t.Errorf("got %v", err)
	}
}

func TestComponentsStandWhereTheyAreUsed(t *testing.T) {
	t.Parallel()
	folder := parts("schemas/Both'}}}}", "schemas/None'}}}}") // afterwards only the area of calls uses Both
	folder["shared.yaml"].Data = append(folder["shared.yaml"].Data, "    None: {type: string}\n"...)
	if _, err := Bundle(folder); err == nil || !strings.Contains(err.Error(), "shared.yaml: schemas/Both belongs in calls.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestAreaIsSelfContained(t *testing.T) {
	t.Parallel()
	text, err := Area([]byte(bundled), []string{"AgentTesting"})
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"/calls", "Call", "404", "Absent", "gone"} {
		if strings.Contains(string(text), absent) {
			t.Errorf("the area holds %q:\n%s", absent, text)
		}
	}
	for _, present := range []string{"/tests", "Both", "failed", "ApiKey", "default"} {
		if !strings.Contains(string(text), present) {
			t.Errorf("the area lacks %q:\n%s", present, text)
		}
	}
}

func TestAreaTakesEveryTagAndRefusesOthers(t *testing.T) {
	t.Parallel()
	text, err := Area([]byte(bundled), nil)
	if err != nil || !strings.Contains(string(text), "/calls") || !strings.Contains(string(text), "/tests") {
		t.Errorf("%v\n%s", err, text)
	}
	if strings.Contains(string(text), "404") {
		t.Errorf("the area names an error status:\n%s", text)
	}
	if _, err := Area([]byte(bundled), []string{"Speech"}); err == nil {
		t.Error("a tag that the contract lacks is accepted")
	}
}
