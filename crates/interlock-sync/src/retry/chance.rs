//! Chance as an argument: good enough to spread callers out, not for secrets.

/// Where random numbers come from.
pub trait Chance {
    /// 64 random bits.
    fn next_u64(&mut self) -> u64;
}

/// Chance for spreading callers out: small, fast, and seeded by the operating system or by a test. Not for secrets.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that nobody can foresee.
    #[must_use]
    pub fn fresh() -> Self {
        let mut seed = [0; 8];
        if getrandom::fill(&mut seed).is_err() {
            // An address differs from process to process; without any chance at all, waiting still works, only less well spread.
            let place = std::ptr::from_ref(&seed).addr();
            return Self(place as u64);
        }
        Self(u64::from_le_bytes(seed))
    }

    /// Dice that always fall the same way.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }
}

impl Chance for Dice {
    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl<C: Chance + ?Sized> Chance for &mut C {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}

/// A number from 0 to `most`, both included.
pub(super) fn up_to(chance: &mut impl Chance, most: u64) -> u64 {
    // The high half of the product is even enough: it errs by less than one in 2^64 / most.
    ((u128::from(chance.next_u64()) * (u128::from(most) + 1)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_reach_both_ends_and_nothing_beyond() {
        let mut dice = Dice::seeded(1);
        let mut seen = [false; 4];
        for _ in 0..1000 {
            seen[up_to(&mut dice, 3) as usize] = true;
        }
        assert_eq!(seen, [true; 4]);
        assert_eq!(up_to(&mut dice, 0), 0);
    }

    #[test]
    fn fresh_dice_fall_differently() {
        assert_ne!(Dice::fresh().next_u64(), Dice::fresh().next_u64());
    }
}
