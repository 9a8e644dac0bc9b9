package health_test

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/sip/health"
)

func ExampleHistory() {
	start := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	history := health.History{Until: start}
	history = history.Lasted(health.Healthy, start.Add(3*time.Minute))
	history = history.Lasted(health.Unreachable, start.Add(4*time.Minute))
	percent, ok := history.Uptime()
	fmt.Println(percent, ok)
	// Output: 75 true
}
