package g722

// band holds the state of one band's predictor, with two poles and six zeros, and of its quantizer (G.722, clauses 3.3 to 3.6). All values
// are 16-bit integers, as in the recommendation, whose names are in the comments.
type band struct {
	step   int    // DET, the step size of the quantizer
	log    int    // NB, the logarithm of step
	poles  [2]int // A1 and A2, the coefficients of the poles
	zeros  [6]int // B1 to B6, the coefficients of the zeros
	differ [6]int // D1 to D6, the last quantized differences
	signal [2]int // R1, R2, the last reconstructed signals
	parts  [2]int // P1, P2, the last partially reconstructed signals
	guess  int    // S, the predicted signal
	byZero int    // SZ, the part of guess that the zeros contribute
}

// The initial step sizes of encoder and decoder.
const (
	lowStepAtRest  = 32
	highStepAtRest = 8
)

// encodeLow quantizes a sample of the lower band to 6 bits, and adapts the predictor.
func (b *band) encodeLow(sample int) int {
	difference := saturate(sample - b.guess)
	magnitude := difference
	if difference < 0 {
		magnitude = -(difference + 1)
	}
	level := 1
	for level < 30 && magnitude >= lowLevels[level]*b.step>>12 {
		level++
	}
	code := lowPositive[level]
	if difference < 0 {
		code = lowNegative[level]
	}
	b.adaptLow(code)
	return code
}

// decodeLow returns the sample of a 6-bit code of the lower band, and adapts the predictor.
func (b *band) decodeLow(code int) int {
	sample := saturateBand(b.guess + b.step*low6[code]>>15)
	b.adaptLow(code)
	return sample
}

// adaptLow adapts the predictor to a code. It uses only the upper 4 of the 6 bits, because the lower 2 may carry other data.
func (b *band) adaptLow(code int) {
	code >>= 2
	b.predict(b.step * low4[code] >> 15)
	b.log = min(max(b.log*127>>7+lowWeights[lowGroups[code]], 0), 18432)
	b.step = scale(b.log, 8)
}

// encodeHigh quantizes a sample of the upper band to 2 bits, and adapts the predictor.
func (b *band) encodeHigh(sample int) int {
	difference := saturate(sample - b.guess)
	magnitude := difference
	if difference < 0 {
		magnitude = -(difference + 1)
	}
	wide := magnitude >= 564*b.step>>12
	var code int
	switch {
	case difference < 0 && wide:
		code = 0
	case difference < 0:
		code = 1
	case wide:
		code = 2
	default:
		code = 3
	}
	b.adaptHigh(code)
	return code
}

// decodeHigh returns the sample of a 2-bit code of the upper band, and adapts the predictor.
func (b *band) decodeHigh(code int) int {
	sample := saturateBand(b.guess + b.step*high2[code]>>15)
	b.adaptHigh(code)
	return sample
}

func (b *band) adaptHigh(code int) {
	b.predict(b.step * high2[code] >> 15)
	b.log = min(max(b.log*127>>7+highWeights[code&1], 0), 22528)
	b.step = scale(b.log, 10)
}

// saturateBand limits a sample of one band to 15 bits.
func saturateBand(v int) int { return min(max(v, -1<<14), 1<<14-1) }

// scale returns the step size for its logarithm (G.722, clause 3.4.3). base is the offset of the logarithm's integer part.
func scale(log, base int) int {
	fraction, whole := log>>6&31, log>>11
	shift := base - whole
	if shift < 0 {
		return inverse[fraction] << -shift << 2
	}
	return inverse[fraction] >> shift << 2
}

// predict adapts the filter to a quantized difference and predicts the next sample (G.722, block 4).
func (b *band) predict(difference int) {
	signal := saturate(b.guess + difference)
	part := saturate(b.byZero + difference)

	pole2 := b.nextPole2(part)
	pole1 := b.nextPole1(part, pole2)
	for i, z := range b.zeros {
		leak := z * 32640 >> 15
		b.zeros[i] = saturate(leak + agree(difference, b.differ[i])*gain(difference))
	}
	copy(b.differ[1:], b.differ[:5])
	b.differ[0] = difference
	b.poles = [2]int{pole1, pole2}
	b.parts = [2]int{part, b.parts[0]}
	b.signal = [2]int{signal, b.signal[0]}

	b.byZero = 0
	for i, z := range b.zeros {
		b.byZero += saturate(2*b.differ[i]) * z >> 15
	}
	b.byZero = saturate(b.byZero)
	byPole := saturate(saturate(2*b.signal[0])*pole1>>15 + saturate(2*b.signal[1])*pole2>>15)
	b.guess = saturate(byPole + b.byZero)
}

// nextPole2 returns the new coefficient of the second pole (block UPPOL2 of the recommendation).
func (b *band) nextPole2(part int) int {
	quadruple := saturate(4 * b.poles[0])
	if sameSign(part, b.parts[0]) {
		quadruple = -quadruple
	}
	next := min(quadruple, 1<<15-1) >> 7
	if sameSign(part, b.parts[1]) {
		next += 128
	} else {
		next -= 128
	}
	next += b.poles[1] * 32512 >> 15
	return min(max(next, -12288), 12288)
}

// nextPole1 returns the new coefficient of the first pole (block UPPOL1 of the recommendation).
func (b *band) nextPole1(part, pole2 int) int {
	next := b.poles[0] * 32640 >> 15
	if sameSign(part, b.parts[0]) {
		next += 192
	} else {
		next -= 192
	}
	limit := saturate(15360 - pole2)
	return min(max(saturate(next), -limit), limit)
}

// sameSign reports whether a and b have the same sign. It treats 0 as positive.
func sameSign(a, b int) bool { return (a < 0) == (b < 0) }

// agree returns 1 if a and b have the same sign, and otherwise -1.
func agree(a, b int) int {
	if sameSign(a, b) {
		return 1
	}
	return -1
}

// gain returns the amount by which a difference changes the coefficients of zeros. It is 0 if the difference is 0.
func gain(difference int) int {
	if difference == 0 {
		return 0
	}
	return 128
}

// Tables of the recommendation, whose names are in parentheses.
var (
	// lowLevels contains the decision levels of the 60 steps in the lower band (Q6).
	lowLevels = [31]int{
		0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339,
		1458, 1612, 1765, 1980, 2195, 2557, 2919,
	}
	// lowNegative and lowPositive contain the codes for negative and positive differences (ILN, ILP).
	lowNegative = [31]int{
		0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
	}
	lowPositive = [31]int{
		0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34,
		33, 32,
	}
	// low6 and low4 contain the differences for codes of 6 and 4 bits, in units of 2^-15 (QM6, QM4).
	low6 = [64]int{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
	low4 = [16]int{
		0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
	}
	// lowGroups and lowWeights map a code to the change of the step's logarithm (RL42, WL).
	lowGroups  = [16]int{0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0}
	lowWeights = [8]int{-60, -30, 58, 172, 334, 538, 1198, 3042}
	// high2 contains the differences for codes of the upper band (QM2), and highWeights the changes of the step's logarithm (WH).
	high2       = [4]int{-7408, -1616, 7408, 1616}
	highWeights = [2]int{798, -214}
	// inverse maps the fraction of a logarithm to a step size (ILB).
	inverse = [32]int{
		2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025,
		3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
	}
)
