package alert_test

import (
	"fmt"

	"github.com/callwright/callwright/sip/alert"
)

func ExampleConfig_Check() {
	config := alert.Config{Enabled: true, Thresholds: alert.Thresholds{FailureRate: 120}, Channels: alert.Channels{Email: true}}
	fmt.Println(config.Check(true))
	// Output: thresholds.failure_rate_percent: must be from 0 to 100
}
