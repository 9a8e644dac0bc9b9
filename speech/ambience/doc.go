// Package ambience makes the background sounds of calls: an office, a café and a restaurant. A program computes them; no recording is
// involved. Each sound is a seamless loop of 24 seconds at about -40 dBFS, so that speech at -20 dBFS is clearly louder.
package ambience
