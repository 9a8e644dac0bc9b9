// Package silero implements the 8 kHz branch of the neural network Silero VAD v5 in plain Go. It returns the probability that 32 ms of a
// call contain speech. The results equal those of onnxruntime except for the rounding of the weights to half precision.
//
// The weights are the work of the Silero Team under the MIT license; see NOTICE.md. scripts/silero.mjs writes weights.f16 from the published
// network. A program that does not import this package does not contain them.
package silero
