// Package speechapi serves synthesis, samples and voices. None of it is built yet: its operations answer 501.
package speechapi
