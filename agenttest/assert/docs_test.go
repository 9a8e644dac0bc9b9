package assert_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/callwright/callwright/agenttest/assert"
)

// TestExamplesInDocs checks that the guide contains an example of each type, and that all examples compile.
func TestExamplesInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/agent-testing.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| `(\\{.*?\\})`").FindAllSubmatch(page, -1) {
		shown[string(row[1])] = true
		_, err := assert.Compile(assert.Assertion{Type: assert.Type(row[1]), Config: json.RawMessage(row[2]), Weight: 1})
		if err != nil {
			t.Errorf("%s: %s: %v", row[1], row[2], err)
		}
	}
	if len(shown) != 10 {
		t.Errorf("the guide has examples of %v, want ten types", shown)
	}
}
