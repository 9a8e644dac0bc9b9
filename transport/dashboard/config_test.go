package dashboard_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
)

// TestTrunksWithoutAService checks that New requires each of the services that the pages for trunks use.
func TestTrunksWithoutAService(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, forget := range map[string]func(*dashboard.Config){
		"CallLog": func(c *dashboard.Config) { c.CallLog = nil }, "Setup": func(c *dashboard.Config) { c.Setup = nil },
		"Discoveries": func(c *dashboard.Config) { c.Discoveries = nil }, "TestCalls": func(c *dashboard.Config) { c.TestCalls = nil }, "Proofs": func(c *dashboard.Config) { c.Proofs = nil },
	} {
		c := h.config
		forget(&c)
		if _, err := dashboard.New(c); err == nil || !strings.Contains(err.Error(), "Config."+name+" is required") {
			t.Errorf("without %s it gave %v", name, err)
		}
	}
}

// TestTrunksLinkToCalls checks that the last page of a trunk's setup links to a new call only if the dashboard has pages for calls.
func TestTrunksLinkToCalls(t *testing.T) {
	t.Parallel()
	h := open(t)
	path := "/trunks/" + h.furnish(owner, "+14155550100")["/trunks/{number}"] + "/complete"
	for range 2 {
		with := h.config.Calls != nil
		theOwner, _ := h.serve(func(*page.Route) {})
		if body := theOwner.send(path, nil).Body; strings.Contains(body, "/calls/new") != with || !strings.Contains(body, "Open the trunk") {
			t.Errorf("with calls %t:\n%s", with, body)
		}
		h.config.Calls = nil
	}
}
