package llm

import "slices"

// Use counts the requests that one model has answered or failed to answer in a part of a conversation.
type Use struct {
	Model    string // Model.Name of the model
	Replaced string // Model.Name of the requested model, if Model answered in its place; else empty
	Cause    Class  // class of the failure of Replaced; empty if Replaced is

	Requests  int // all requests
	Failed    int // requests that failed
	Uncounted int // answered or interrupted requests whose tokens are unknown, because the service has not reported them
	Usage     Usage
}

// AddUses returns a new list with the uses of both lists. It adds the numbers of uses that agree in Model, Replaced and Cause.
func AddUses(all []Use, more ...Use) []Use {
	sum := slices.Clone(all)
	for _, u := range more {
		i := slices.IndexFunc(sum, func(v Use) bool { return v.Model == u.Model && v.Replaced == u.Replaced && v.Cause == u.Cause })
		if i < 0 {
			sum = append(sum, u)
			continue
		}
		v := &sum[i]
		v.Requests, v.Failed, v.Uncounted = v.Requests+u.Requests, v.Failed+u.Failed, v.Uncounted+u.Uncounted
		v.Usage = v.Usage.Add(u.Usage)
	}
	return sum
}

// UseOf returns the Use of one answered request to m. The parameters asked and answered are the requested name and the Model.Name of the
// model that answered. The function ignores answered unless cause is set. A zero usage means that the service has not reported it.
func UseOf(m Model, asked, answered string, cause Class, usage Usage) Use {
	u := Use{Requests: 1, Usage: usage}
	u.Model, _ = NameOf(m, asked)
	if cause != "" {
		u.Model, u.Replaced, u.Cause = answered, u.Model, cause
	}
	if usage == (Usage{}) {
		u.Uncounted = 1
	}
	return u
}
