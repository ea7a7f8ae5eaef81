package evidence

import "math"

// binomialTail returns the logarithm of the probability that at least k of n trials succeed, each with probability p. It returns 0
// if k is not above the mean.
func binomialTail(n, k int64, p float64) float64 {
	if float64(k) <= float64(n)*p || p >= 1 {
		return 0
	}
	if p <= 0 {
		return math.Inf(-1)
	}
	sum, term := 1.0, 1.0 // in units of the first term, which is the largest
	for j := k; j < n && term > sum*1e-17; j++ {
		term *= float64(n-j) / float64(j+1) * p / (1 - p)
		sum += term
	}
	return logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p) + math.Log(sum)
}

// allOf returns the logarithm of the probability that k things, drawn at random from n, are all among m specific ones.
func allOf(n, m, k int64) float64 {
	if k > m {
		return math.Inf(-1)
	}
	return logChoose(m, k) - logChoose(n, k)
}

// logChoose returns the logarithm of the number of ways to choose k of n.
func logChoose(n, k int64) float64 {
	factorial := func(n int64) float64 {
		log, _ := math.Lgamma(float64(n) + 1)
		return log
	}
	return factorial(n) - factorial(k) - factorial(n-k)
}
