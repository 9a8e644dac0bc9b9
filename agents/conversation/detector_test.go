package conversation_test

import (
	"testing"

	"github.com/callwright/callwright/agents/conversation"
)

func BenchmarkDetector(b *testing.B) {
	for _, rate := range []int{8000, 16000} {
		b.Run(map[int]string{8000: "8kHz", 16000: "16kHz"}[rate], func(b *testing.B) {
			d := conversation.NewDetector(rate)
			frame := make([]int16, rate/50)
			for i := range frame {
				frame[i] = int16(i * 7919 % 20011)
			}
			b.ReportAllocs()
			for b.Loop() {
				d.Voiced(frame)
			}
		})
	}
}
