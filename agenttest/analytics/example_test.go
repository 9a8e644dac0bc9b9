package analytics_test

import (
	"fmt"

	"github.com/callwright/callwright/agenttest/analytics"
	"github.com/callwright/callwright/agenttest/stats"
)

// This example adds runs to a Fold, one at a time and newest first, and prints the report.
func ExampleFold() {
	f := analytics.NewFold(now, analytics.DefaultDays)
	for i := range 10 {
		r := analytics.Run{Scenario: "booking", Version: 3, State: stats.Passed, CreatedAt: ago(float64(i))}
		r.Summary = analytics.NewSummary(nil, []string{"greeting", "offer", "goodbye"}, "")
		if i%5 == 4 {
			r.State, r.Summary = stats.Failed, analytics.NewSummary(nil, []string{"greeting", "offer"}, "offer")
		}
		f.Add(r)
	}
	r := f.Report(plain)
	fmt.Printf("%.0f %% of %d pass; the weakest node is %s, with %d failures in %d runs\n",
		100**r.PassRate, r.Total, r.Weakest.Node, r.Weakest.Failed, r.Weakest.Visits)
	for _, l := range r.Flow.Links {
		fmt.Println(l.Source, "→", l.Target, l.Runs)
	}
	// Output:
	// 80 % of 10 pass; the weakest node is offer, with 2 failures in 10 runs
	// s:booking → n1:greeting 10
	// n1:greeting → n2:offer 10
	// n2:offer → n3:goodbye 8
	// n2:offer → o:failed 2
	// n3:goodbye → o:passed 8
}
