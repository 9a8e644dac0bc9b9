package contracttest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/contracttest"
)

func TestSecretsAreThoseThatTheContractMarks(t *testing.T) {
	t.Parallel()
	var marked, unmarked []string
	for _, m := range contracttest.Secrets() {
		marked = append(marked, m.String())
	}
	for _, m := range contracttest.Unmarked() {
		unmarked = append(unmarked, m.String())
	}
	for _, want := range []string{
		"attachSipNumbers body directions[].options.sip_password", "createAgent body dynamic_data[].headers[].value", "createCall body tools[]",
		"showLetter path token",
	} {
		if !slices.Contains(marked, want) {
			t.Errorf("%s is not among the secrets %v", want, marked)
		}
	}
	for _, want := range []string{"createCall header Idempotency-Key", "createIssue body external_link"} {
		if !slices.Contains(unmarked, want) {
			t.Errorf("%s is not among those that are named like a secret: %v", want, unmarked)
		}
	}
}

func TestWithoutSecrets(t *testing.T) {
	t.Parallel()
	agent := `{"agent":{"agent_id":"a","prompt":"KEPT","webhook":"GONE","tools":["KEPT",{"name":"GONE"}],` +
		`"dynamic_data":[{"url":"GONE","cache":true,"headers":[{"key":"KEPT","value":"GONE"}]}]}}`
	left := string(contracttest.WithoutSecrets("createAgent", 201, []byte(agent)))
	if strings.Contains(left, "GONE") || strings.Count(left, "KEPT") != 3 {
		t.Errorf("left is %s", left)
	}
	for name, same := range map[string]struct {
		operation string
		status    int
		body      string
	}{
		"an error":             {"createAgent", 400, agent},
		"no JSON":              {"createAgent", 200, "text"},
		"an unknown operation": {"", 200, agent},
	} {
		if left := string(contracttest.WithoutSecrets(same.operation, same.status, []byte(same.body))); left != same.body {
			t.Errorf("%s: left is %s", name, left)
		}
	}
}
