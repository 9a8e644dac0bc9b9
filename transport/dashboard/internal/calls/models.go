package calls

import (
	"strconv"

	"github.com/callwright/callwright/agents/call"
)

// costsText describes the cost of a call's models, and the requests that it lacks.
func costsText(c call.Call) string {
	text := "The cost is not known."
	if cost, known := c.Cost(); known {
		text = "Together they cost $" + cost.String() + " at the server's prices when the call ended."
	}
	uncounted := 0
	for _, m := range c.Models {
		uncounted += m.Uncounted
	}
	if uncounted > 0 {
		text += " The services did not report the tokens of " + strconv.Itoa(uncounted) + " requests, for example interrupted ones."
	}
	return text
}
