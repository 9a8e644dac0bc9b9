package triage_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/triage"
)

func TestAlert(t *testing.T) {
	t.Parallel()
	h := open(t)
	ctx, i := t.Context(), h.issue(triage.Draft{})
	long := strings.Repeat("é", 200)
	for _, a := range []triage.AlertTransition{
		{Name: "trunk down", To: "firing"},
		{Name: long, From: long, To: long, Detail: strings.Repeat("x", 64<<10)},
	} {
		e, err := h.Alert(ctx, "acme", triage.System(), i.ID, a)
		if err != nil || e.Detail != a.Detail || e.ID == "" {
			t.Fatalf("told %+v, %v", e, err)
		}
		var from any
		if a.From != "" {
			from = a.From
		}
		h.wantLast(t, i.ID, triage.Entry{
			Type: triage.TypeAlertTransition, Actor: triage.System(), Detail: a.Detail,
			Metadata: map[string]any{"alert": a.Name, "from": from, "to": a.To},
		})
	}
	for field, a := range map[string]triage.AlertTransition{
		"name":   {To: "firing"},
		"from":   {Name: "x", From: long + "é", To: "firing"},
		"to":     {Name: "x", From: "firing"},
		"detail": {Name: "x", To: "firing", Detail: strings.Repeat("x", 64<<10+1)},
	} {
		h.refuses(t, i.ID, callwright.CodeBadRequest, field, func() error {
			_, err := h.Alert(ctx, "acme", ada, i.ID, a)
			return err
		})
	}
}
