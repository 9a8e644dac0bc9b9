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

var funcs = template.FuncMap{"callState": calls.State, "healthKind": healthKind, "counted": counted, "lastDay": lastDay, "uptime": uptime}

// healthKind returns the badge kind of a trunk's health.
func healthKind(s health.State) string {
	switch s {
	case health.Healthy:
		return "good"
	case health.Unreachable:
		return "bad"
	case health.Unchecked, health.Suspect, health.Recovering: // the last two are internal: see health.State.Public
	}
	return "plain"
}

// counted formats a number of trunks. It adds "or more" if n has reached sip.MaxCounted, where counting stops.
func counted(n int) string {
	if n >= sip.MaxCounted {
		return strconv.Itoa(n) + " or more"
	}
	return strconv.Itoa(n)
}

// lastDay draws the hourly health of a trunk during the last day. place is the trunk's position in the list and makes the id unique.
func lastDay(place int, t sip.TrunkDay, now time.Time) template.HTML {
	return trunks.LastDay("trunk-"+strconv.Itoa(place), "Last day of "+t.Number.String(), t.Hours, now)
}

// uptime formats the percentage of the last day during which a trunk was up. Periods of unknown health do not count. It returns "" if
// Uptime is nil.
func uptime(t sip.TrunkDay) string {
	if t.Uptime == nil {
		return ""
	}
	return fmt.Sprintf("up for %.1f%% of the time that is known", *t.Uptime)
}
