package intonation_test

import (
	"fmt"
	"math"

	"github.com/callwright/callwright/speech/intonation"
)

// Example measures a voice whose pitch falls from 220 to 110 Hz in its last 300 ms.
func Example() {
	const rate = 8000
	meter := intonation.New(rate)
	phase := 0.0
	for n := range 75 { // frames of 20 ms
		hertz := 220.0
		if n >= 60 {
			hertz /= math.Pow(2, float64(n-60)/15)
		}
		var frame [rate / 50]int16
		for i := range frame {
			phase += 2 * math.Pi * hertz / rate
			frame[i] = int16(3000 * (math.Sin(phase) + math.Sin(2*phase)/2))
		}
		meter.Hear(frame[:], true)
	}
	fmt.Println(meter.Contour())
	// Output: falling
}
