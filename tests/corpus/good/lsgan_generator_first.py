"""OK: the generator goes first; its backward fills D through the shared score, and D is cleared before its own backward."""
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(6, 20)
        self.l2 = nn.Linear(20, 4)

    def forward(self, z):
        return self.l2(torch.relu(self.l1(z)))


def main():
    torch.manual_seed(0)
    generator = Generator()
    discriminator = nn.Sequential(nn.Linear(4, 20), nn.LeakyReLU(), nn.Linear(20, 1))
    adversarial_loss = nn.MSELoss()
    opt = {"G": torch.optim.Adam(generator.parameters(), 1e-3), "D": torch.optim.Adam(discriminator.parameters(), 1e-3)}
    data = torch.randn(200, 4) * torch.tensor([1.0, 2.0, 0.5, 0.1])
    for epoch in range(3):
        for imgs in data.split(40):
            valid, fake = torch.ones(len(imgs), 1), torch.zeros(len(imgs), 1)

            opt["G"].zero_grad()
            gen_imgs = generator(torch.randn(len(imgs), 6))
            g_loss = adversarial_loss(discriminator(gen_imgs), valid)
            g_loss.backward()
            opt["G"].step()

            opt["D"].zero_grad()
            real_loss = adversarial_loss(discriminator(imgs), valid)
            fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
            d_loss = 0.5 * (real_loss + fake_loss)
            d_loss.backward()
            opt["D"].step()
    print(g_loss.item(), d_loss.item())


if __name__ == "__main__":
    main()
