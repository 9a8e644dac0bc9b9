package issues

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/triage"
)

// relations describes the role of an issue in a relation: outgoing if the relation begins at the issue, incoming if it ends there.
var relations = map[triage.RelationType]struct{ outgoing, incoming string }{
	triage.RelatedTo:   {"is related to", "is related to"},
	triage.Blocks:      {"blocks", "is blocked by"},
	triage.DuplicateOf: {"is a duplicate of", "is duplicated by"},
}

// relationTypes returns the types of relations in the order of the form.
func relationTypes() []triage.RelationType {
	return []triage.RelationType{triage.RelatedTo, triage.Blocks, triage.DuplicateOf}
}

// relation describes the role of an issue in a relation. outgoing states that the relation begins at the issue.
func relation(t triage.RelationType, outgoing bool) string {
	if outgoing {
		return relations[t].outgoing
	}
	return relations[t].incoming
}

func status(s triage.Status) page.Badge {
	kinds := map[triage.Status]string{
		triage.StatusTodo: "warn", triage.StatusInProgress: "busy", triage.StatusInReview: "busy", triage.StatusDone: "good",
	}
	return kindOr(kinds[s], page.Words(s))
}

func severity(s triage.Severity) page.Badge {
	return kindOr(map[triage.Severity]string{triage.SeverityCritical: "bad", triage.SeverityHigh: "warn"}[s], page.Words(s))
}

func session(s triage.SessionStatus) page.Badge {
	kinds := map[triage.SessionStatus]string{
		triage.SessionPending: "busy", triage.SessionActive: "busy", triage.SessionAwaitingInput: "warn", triage.SessionComplete: "good",
		triage.SessionError: "bad",
	}
	return kindOr(kinds[s], page.Words(s))
}

func kindOr(kind, text string) page.Badge {
	if kind == "" {
		kind = "plain"
	}
	return page.Badge{Kind: kind, Text: text}
}

// joined returns the values of a filter in the format of its query parameter, separated by commas.
func joined(values any) (string, error) {
	switch v := values.(type) {
	case []triage.Status:
		return join(v), nil
	case []triage.Severity:
		return join(v), nil
	case []string:
		return join(v), nil
	}
	return "", fmt.Errorf("joined: a %T", values)
}

func join[T ~string](values []T) string {
	texts := make([]string, len(values))
	for n, v := range values {
		texts[n] = string(v)
	}
	return strings.Join(texts, ",")
}

// chosen reports whether value is the only value of a filter.
func chosen(values, value any) (bool, error) {
	text, err := joined(values)
	return text == fmt.Sprint(value), err
}
