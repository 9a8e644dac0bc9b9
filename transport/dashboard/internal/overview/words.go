package overview

import (
	"fmt"
	"html/template"
	"strconv"
	"time"

	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/health"
	"github.com/callwright/callwright/transport/dashboard/internal/calls"
	"github.com/callwright/callwright/transport/dashboard/internal/trunks"
)

// funcs are the functions of the template.
var funcs = template.FuncMap{"callState": calls.State, "healthKind": healthKind, "counted": counted, "lastDay": lastDay, "uptime": uptime}

// healthKind is the kind of the badge of a state of trunks.
func healthKind(s health.State) string {
	switch s {
	case health.Healthy:
		return "good"
	case health.Unreachable:
		return "bad"
	case health.Unchecked, health.Suspect, health.Recovering: // the last two are not public
	}
	return "plain"
}

// counted shows a number of trunks.
func counted(n int) string {
	if n >= sip.MaxCounted {
		return strconv.Itoa(n) + " or more"
	}
	return strconv.Itoa(n)
}

// lastDay draws the last day of the trunk in a place of the list.
func lastDay(place int, t sip.TrunkDay, now time.Time) template.HTML {
	return trunks.LastDay("trunk-"+strconv.Itoa(place), "Last day of "+t.Number.String(), t.Hours, now)
}

// uptime describes the share of the last day in which a trunk was up; empty: unknown.
func uptime(t sip.TrunkDay) string {
	if t.Uptime == nil {
		return ""
	}
	return fmt.Sprintf("up for %.1f%% of the time that is known", *t.Uptime)
}
