package evidence

import (
	"math"
	"math/big"
	"testing"
)

// TestBinomialTail compares binomialTail with the exact sum of rational numbers.
func TestBinomialTail(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 60, 150} {
		for _, of := range []int64{1, 5, 50, 90, 99} { // hundredths
			exact := big.NewInt(0) // in units of 100^-n
			for k := n; k >= 0; k-- {
				term := new(big.Int).Binomial(n, k)
				term.Mul(term, new(big.Int).Exp(big.NewInt(of), big.NewInt(k), nil))
				term.Mul(term, new(big.Int).Exp(big.NewInt(100-of), big.NewInt(n-k), nil))
				exact.Add(exact, term)
				want := 0.0
				if k*100 > n*of {
					want = logOf(new(big.Rat).SetFrac(exact, new(big.Int).Exp(big.NewInt(100), big.NewInt(n), nil)))
				}
				if got := binomialTail(n, k, float64(of)/100); math.Abs(got-want) > 1e-9*max(1, -want) {
					t.Errorf("at least %d of %d with %d %%: %v, want %v", k, n, of, got, want)
				}
			}
		}
	}
	if got := binomialTail(10, 5, 0); !math.IsInf(got, -1) {
		t.Errorf("what is impossible has the logarithm %v", got)
	}
}

// TestAllOf compares allOf with the exact quotient.
func TestAllOf(t *testing.T) {
	for n := int64(1); n <= 40; n++ {
		for m := range n + 1 {
			for k := range m + 1 {
				want := logOf(new(big.Rat).SetFrac(new(big.Int).Binomial(m, k), new(big.Int).Binomial(n, k)))
				if got := allOf(n, m, k); math.Abs(got-want) > 1e-9*max(1, -want) {
					t.Errorf("%d of %d, all among %d: %v, want %v", k, n, m, got, want)
				}
			}
		}
	}
}

// logOf returns the logarithm of a small number.
func logOf(r *big.Rat) float64 {
	mantissa := new(big.Float)
	exponent := new(big.Float).SetPrec(200).SetRat(r).MantExp(mantissa)
	m, _ := mantissa.Float64()
	return math.Log(m) + float64(exponent)*math.Ln2
}
