package activity_test

import (
	"fmt"
	"math"

	"github.com/callwright/callwright/speech/activity"
)

func Example() {
	const rate = 8000
	detector := activity.New(rate, nil) // silero.New() in place of nil adds a neural network
	frame := make([]int16, rate/50)     // 20 ms
	for n := range 5 {
		for i := range frame {
			t := float64(n*len(frame)+i) / rate
			frame[i] = int16(4000*math.Sin(2*math.Pi*697*t) + 4000*math.Sin(2*math.Pi*1209*t)) // the digit 1
		}
		verdict := detector.Hear(frame, nil)
		if n == 4 {
			fmt.Printf("%s at %.0f dBFS, the caller speaks: %v\n", verdict.Kind, verdict.Level, verdict.Voice())
		}
	}
	// Output: tone at -18 dBFS, the caller speaks: false
}
